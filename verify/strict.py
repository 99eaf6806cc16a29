"""Strict JSON: a parser that leaves nothing open, and checks to build formats of.

A check takes a value and the steps that lead to it, and raises `Unreadable` with
the JSON path of the first culprit. ``read`` writes the two formats down in them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

INT64_MAX = 2**63 - 1
DIGITS = 20  # an integer written with more is beyond int64, sign included
SHOWN = 80  # characters of a culprit that a message repeats
PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")

Path = tuple[str | int, ...]
Check = Callable[[Any, Path], None]


class Unreadable(ValueError):  # noqa: N818 - named as the verdict it leads to
    """Text that is no document of its format; ``path`` leads to the culprit."""

    def __init__(self, reason: str, path: Path | str = ()) -> None:
        steps = path if isinstance(path, str) else "$" + "".join(map(_step, path))
        super().__init__(f"{steps}: {reason}")
        self.reason = reason
        self.path = steps

    def __reduce__(self) -> tuple[object, ...]:
        """Survive pickling, which would pass on the message alone."""
        return Unreadable, (self.reason, self.path)


class _Odd:
    """Stands in a parsed document where JSON said what no document may say."""

    def __init__(self, reason: str, key: str | None = None) -> None:
        self.reason = reason
        self.steps = () if key is None else (key,)


def parse(text: str | bytes) -> object:
    """Parse one JSON value; repeated keys, floats and the like become odd values."""
    try:
        decoded = text.decode("utf-8") if isinstance(text, bytes) else text
    except UnicodeDecodeError as error:
        raise Unreadable(f"not UTF-8 at byte {error.start}") from None
    if decoded.startswith("\ufeff"):
        raise Unreadable("starts with a byte order mark; write plain UTF-8")
    try:
        value: object = json.loads(
            decoded,
            object_pairs_hook=_object_or_odd,
            parse_int=_integer_or_odd,
            parse_float=lambda digits: _Odd(f"a float: {digits[:SHOWN]}"),
            parse_constant=lambda name: _Odd(f"no JSON: {name}"),
        )
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        raise Unreadable(f"not JSON: {error.msg} ({where})") from None
    except RecursionError:
        raise Unreadable("nested too deeply") from None
    return value


def fields(
    required: Mapping[str, Check], optional: Mapping[str, Check] | None = None
) -> Check:
    """Return a check for an object of these keys and no others."""
    known = {**required, **(optional or {})}

    def check(value: Any, path: Path) -> None:
        refuse_unless(dict, value, path)
        for key in value:
            if key not in known:
                raise Unreadable("unknown key", (*path, key))
        for key in required:
            if key not in value:
                raise Unreadable("missing", (*path, key))
        for key, item in value.items():
            known[key](item, (*path, key))

    return check


def table(check_item: Check) -> Check:
    """Return a check for an object whose keys are names."""

    def check(value: Any, path: Path) -> None:
        refuse_unless(dict, value, path)
        for key, item in value.items():
            text(key, (*path, key))
            check_item(item, (*path, key))

    return check


def each(check_item: Check) -> Check:
    """Return a check for a list."""

    def check(value: Any, path: Path) -> None:
        refuse_unless(list, value, path)
        for position, item in enumerate(value):
            check_item(item, (*path, position))

    return check


def pair(check_item: Check) -> Check:
    """Return a check for a list of two."""

    def check(value: Any, path: Path) -> None:
        each(check_item)(value, path)
        if len(value) != 2:
            raise Unreadable(f"{len(value)} entries, expected 2", path)

    return check


def either(kind: type, check_kind: Check, check_else: Check) -> Check:
    """Return a check for a value of a type, another one for all the rest."""

    def check(value: Any, path: Path) -> None:
        (check_kind if type(value) is kind else check_else)(value, path)

    return check


def tagged(key: str, kinds: Mapping[str, Check]) -> Check:
    """Return a check for an object that tells by a key which kind it is."""
    check_key = one_of(*kinds)

    def check(value: Any, path: Path) -> None:
        refuse_unless(dict, value, path)
        if key not in value:
            raise Unreadable("missing", (*path, key))
        check_key(value[key], (*path, key))
        kinds[value[key]](value, path)

    return check


def some(check_list: Check) -> Check:
    """Return a check for a list that is not empty."""

    def check(value: Any, path: Path) -> None:
        check_list(value, path)
        if not value:
            raise Unreadable("empty", path)

    return check


def distinct(check_list: Check) -> Check:
    """Return a check for a list in which nothing stands twice."""

    def check(value: Any, path: Path) -> None:
        check_list(value, path)
        position = _first_repeated(value)
        if position is not None:
            reason = f"{shown(value[position])} listed twice"
            raise Unreadable(reason, (*path, position))

    return check


def integer(least: int, most: int = INT64_MAX) -> Check:
    """Return a check for an integer within bounds, both included."""

    def check(value: Any, path: Path) -> None:
        refuse_unless(int, value, path)
        if not least <= value <= most:
            reason = f"{value} is not within {least} and {most}"
            raise Unreadable(reason, path)

    return check


def one_of(*choices: str) -> Check:
    """Return a check for one of these strings."""

    def check(value: Any, path: Path) -> None:
        refuse_unless(str, value, path)
        if value not in choices:
            reason = f"{shown(value)} is none of {', '.join(choices)}"
            raise Unreadable(reason, path)

    return check


def counts(value: Any, path: Path) -> None:
    """Check a list of integers from 0; looks for a culprit only if there is one."""
    refuse_unless(list, value, path)
    plain = all(type(number) is int for number in value)
    if not plain or (value and (min(value) < 0 or max(value) > INT64_MAX)):
        each(integer(0))(value, path)


def text(value: Any, path: Path) -> None:
    """Check a string: any, as long as it is Unicode."""
    refuse_unless(str, value, path)
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise Unreadable("half a surrogate pair in a string", path) from None


def boolean(value: Any, path: Path) -> None:
    """Check for true or false."""
    refuse_unless(bool, value, path)


def refuse_unless(kind: type, value: object, path: Path) -> None:
    """Refuse a value of another type; ``True`` is no integer."""
    if type(value) is kind:
        return
    if isinstance(value, _Odd):
        raise Unreadable(value.reason, (*path, *value.steps))
    names = {dict: "object", list: "list", int: "integer", str: "string"}
    raise Unreadable(f"{shown(value)} is no {names.get(kind, 'boolean')}", path)


def shown(value: object) -> str:
    """Write a culprit as short ASCII JSON, or say what kind of thing it is."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    written = json.dumps(value)
    return written if len(written) <= SHOWN else written[:SHOWN] + "..."


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if PLAIN_KEY.match(step) else f"[{shown(step)}]"


def _object_or_odd(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Odd:
    repeated = _first_repeated([key for key, _ in pairs])
    if repeated is None:
        return dict(pairs)
    return _Odd("key given twice", pairs[repeated][0])


def _integer_or_odd(digits: str) -> int | _Odd:
    return int(digits) if len(digits) <= DIGITS else _Odd("integer beyond 64 bits")


def _first_repeated(values: Sequence[Any]) -> int | None:
    """Return the position of the first value that stood before, if any."""
    seen: set[Any] = set(values)
    if len(seen) == len(values):
        return None
    seen.clear()
    for position, value in enumerate(values):
        if value in seen:
            return position
        seen.add(value)
    return None
