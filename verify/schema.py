"""Strict JSON: a parser that accepts one reading only, and schemas for its values.

A schema is plain data: `Fields`, `Table`, `Each`, a ``range`` of integers, a tuple of
strings to choose from, ``str``, ``bool``, or a function that checks by itself. The
first value that does not match raises `Unreadable` with its JSON path.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

INT64_MAX = 2**63 - 1
COUNT = range(INT64_MAX + 1)
DIGITS = 20  # an integer with more digits is beyond int64, sign included
SHOWN = 80  # characters of a wrong value that a message repeats
PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")

Path = tuple[str | int, ...]


class Unreadable(ValueError):  # noqa: N818 - named as the verdict it leads to
    """Text that is not a document of its format; ``path`` is that of the culprit."""

    def __init__(self, reason: str, path: Path | str = ()) -> None:
        steps = path if isinstance(path, str) else "$" + "".join(map(_step, path))
        super().__init__(f"{steps}: {reason}")
        self.reason = reason
        self.path = steps

    def __reduce__(self) -> tuple[object, ...]:
        """Survive pickling, which would pass on the message alone."""
        return Unreadable, (self.reason, self.path)


class Fields(NamedTuple):
    """Schema of an object with these keys and no others."""

    required: Mapping[str, Any]
    optional: Mapping[str, Any] = {}


class Table(NamedTuple):
    """Schema of an object whose keys are names."""

    of: Any


class Each(NamedTuple):
    """Schema of a list: of any length, or of one; with or without repeated items."""

    of: Any
    length: int | None = None
    distinct: bool = False


class _Odd:
    """Value of a parsed document where JSON says what no document may say."""

    def __init__(self, reason: str, key: str | None = None) -> None:
        self.reason = reason
        self.steps = () if key is None else (key,)


def parse(text: str | bytes) -> object:
    """Parse one JSON value; repeated keys, floats and the like become odd values.

    Raises
    ------
    Unreadable
        If the text is not JSON in UTF-8.
    """
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


def check(schema: Any, value: Any, path: Path = ()) -> None:
    """Raise `Unreadable` for the first value that does not match a schema."""
    if schema is str:
        _check_text(value, path)
        return
    match schema:
        case Fields():
            _check_fields(schema, value, path)
        case Table():
            expect(dict, value, path)
            for key, item in value.items():
                _check_text(key, (*path, key))
                check(schema.of, item, (*path, key))
        case Each():
            _check_list(schema, value, path)
        case range():
            expect(int, value, path)
            if value not in schema:
                reason = f"{value} is not within {schema.start} and {schema.stop - 1}"
                raise Unreadable(reason, path)
        case tuple():
            expect(str, value, path)
            if value not in schema:
                reason = f"{shown(value)} is none of {', '.join(schema)}"
                raise Unreadable(reason, path)
        case type():
            expect(schema, value, path)
        case _:
            schema(value, path)


def expect(kind: type, value: object, path: Path) -> None:
    """Reject a value of another type; ``True`` is not an integer."""
    if type(value) is kind:
        return
    if isinstance(value, _Odd):
        raise Unreadable(value.reason, (*path, *value.steps))
    names = {dict: "object", list: "list", int: "integer", str: "string"}
    raise Unreadable(f"{shown(value)} is no {names.get(kind, 'boolean')}", path)


def shown(value: object) -> str:
    """Write a value as short ASCII JSON; of an object or a list, its type alone."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    written = json.dumps(value)
    return written if len(written) <= SHOWN else written[:SHOWN] + "..."


def _check_fields(schema: Fields, value: Any, path: Path) -> None:
    expect(dict, value, path)
    known = {**schema.required, **schema.optional}
    for key in value:
        if key not in known:
            raise Unreadable("unknown key", (*path, key))
    for key in schema.required:
        if key not in value:
            raise Unreadable("missing", (*path, key))
    for key, item in value.items():
        check(known[key], item, (*path, key))


def _check_list(schema: Each, value: Any, path: Path) -> None:
    expect(list, value, path)
    if not (isinstance(schema.of, range) and _all_within(schema.of, value)):
        for position, item in enumerate(value):
            check(schema.of, item, (*path, position))
    if schema.length not in {None, len(value)}:
        raise Unreadable(f"{len(value)} entries, expected {schema.length}", path)
    repeated = _first_repeated(value) if schema.distinct else None
    if repeated is not None:
        raise Unreadable(f"{shown(value[repeated])} listed twice", (*path, repeated))


def _all_within(bounds: range, value: Sequence[Any]) -> bool:
    """Check a list of integers at once; what fails is then checked item by item."""
    plain = all(type(number) is int for number in value)
    return plain and (not value or (min(value) in bounds and max(value) in bounds))


def _check_text(value: Any, path: Path) -> None:
    expect(str, value, path)
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise Unreadable("half a surrogate pair in a string", path) from None


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
    """Return the position of the first value that occurred before, if any."""
    if len(set(values)) == len(values):
        return None
    seen: set[Any] = set()
    for position, value in enumerate(values):
        if value in seen:
            return position
        seen.add(value)
    return None
