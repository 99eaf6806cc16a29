"""Strict JSON: a parser that accepts one reading only, and schemas for its values.

A schema is plain data: ``str``, ``bool``, a ``range`` of integers, a tuple of strings,
an object by key (``key?`` may be missing, ``*`` is any name), ``[item]`` for a list,
``[item, item]`` for one of two, ``{item}`` for one without repetition; or a function.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from typing import Any

INT64_MAX = 2**63 - 1
COUNT = range(INT64_MAX + 1)
POSITIVE = range(1, INT64_MAX + 1)
INT64 = range(-INT64_MAX, INT64_MAX + 1)
DIGITS = 20  # an integer with more digits, sign included, is beyond int64: not shown
SHORT = range(1 - 10 ** (DIGITS - 1), 10**DIGITS)
TOO_LONG = "integer beyond 64 bits"
LISTED_MAX = 100  # wrong values per document that are listed
SHOWN = 80  # characters of a wrong value that a message repeats
PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")

Path = tuple[str | int, ...]


class Unreadable(ValueError):  # noqa: N818 - named as the verdict it leads to
    """Text that is not a document of its format; ``path`` is that of the culprit.

    ``more`` has path and reason of each further culprit.
    """

    def __init__(
        self, reason: str, path: Path | str = (), more: Sequence[tuple[str, str]] = ()
    ) -> None:
        steps = path if isinstance(path, str) else "$" + "".join(map(_step, path))
        super().__init__(f"{steps}: {reason}")
        self.reason = reason
        self.path = steps
        self.more = tuple(more)

    def __reduce__(self) -> tuple[object, ...]:
        """Survive pickling, which would pass on the message alone."""
        return Unreadable, (self.reason, self.path, self.more)

    @property
    def culprits(self) -> list[tuple[str, str]]:
        """Path and reason of every culprit."""
        return [(self.path, self.reason), *self.more]


def refuse(culprits: Iterator[Unreadable]) -> None:
    """Raise one `Unreadable` that lists all culprits, if there are any.

    A list of a million wrong numbers has no use for them all: `LISTED_MAX`.
    """
    listed = [
        culprit
        for found in islice(culprits, LISTED_MAX + 1)
        for culprit in found.culprits
    ]
    if not listed:
        return
    if len(listed) > LISTED_MAX:
        listed[LISTED_MAX:] = [("$", f"more than {LISTED_MAX} wrong values")]
    (path, reason), *more = listed
    raise Unreadable(reason, path, more)


class _Refused:
    """Value of a parsed document where the JSON is forbidden in every document."""

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
        return _parsed(decoded)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        raise Unreadable(f"not JSON: {error.msg} ({where})") from None
    except RecursionError:
        raise Unreadable("nested too deeply") from None


def _parsed(text: str) -> object:
    parse_as = partial(
        json.loads,
        text,
        object_pairs_hook=_parsed_object,
        parse_float=lambda digits: _Refused(f"a float: {digits[:SHOWN]}"),
        parse_constant=lambda name: _Refused(f"no JSON: {name}"),
    )
    try:
        return parse_as()
    except json.JSONDecodeError:
        raise
    except ValueError:  # Python converts no integer of thousands of digits
        return parse_as(parse_int=_parsed_integer)


def check(schema: Any, value: Any, path: Path = ()) -> None:
    """Raise `Unreadable` with the parts of a value that do not match."""
    refuse(_mismatches(schema, value, path))


def _mismatches(schema: Any, value: Any, path: Path) -> Iterator[Unreadable]:
    if _all_match(schema, [value]):
        return
    if isinstance(schema, dict):
        if type(value) is dict:
            yield from _in_object(schema, value, path)
        else:
            yield _wrong_kind(dict, value, path)
        return
    if isinstance(schema, list | set):
        if type(value) is list:
            yield from _in_list(schema, value, path)
        else:
            yield _wrong_kind(list, value, path)
        return
    try:
        _check_one(schema, value, path)
    except Unreadable as error:
        yield error


def _check_one(schema: Any, value: Any, path: Path) -> None:
    if schema is str:
        _check_text(value, path)
    elif schema is bool:
        expect(bool, value, path)
    elif isinstance(schema, range):
        expect(int, value, path)
        if value not in SHORT:
            raise Unreadable(TOO_LONG, path)
        if value not in schema:
            reason = f"{value} is not within {schema.start} and {schema.stop - 1}"
            raise Unreadable(reason, path)
    elif isinstance(schema, tuple):
        expect(str, value, path)
        if value not in schema:
            raise Unreadable(f"{shown(value)} is not one of {', '.join(schema)}", path)
    else:
        schema(value, path)


def expect(kind: type, value: object, path: Path) -> None:
    """Reject a value of another type; ``True`` is not an integer."""
    if type(value) is not kind:
        raise _wrong_kind(kind, value, path)


def _wrong_kind(kind: type, value: object, path: Path) -> Unreadable:
    if isinstance(value, _Refused):
        return Unreadable(value.reason, (*path, *value.steps))
    if type(value) is int and value not in SHORT:
        return Unreadable(TOO_LONG, path)
    names = {dict: "an object", list: "a list", int: "an integer", str: "a string"}
    return Unreadable(f"{shown(value)} is not {names.get(kind, 'a boolean')}", path)


def shown(value: object) -> str:
    """Write a value as short ASCII JSON; of an object or a list, its type alone."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    written = json.dumps(value)
    return written if len(written) <= SHOWN else written[:SHOWN] + "..."


def _in_object(
    schema: Mapping[str, Any], value: Mapping[Any, Any], path: Path
) -> Iterator[Unreadable]:
    if "*" in schema:
        for key, item in value.items():
            yield from _mismatches(str, key, (*path, key))
            yield from _mismatches(schema["*"], item, (*path, key))
        return
    known = {key.removesuffix("?"): item for key, item in schema.items()}
    for key in value:
        if key not in known:
            yield Unreadable("unknown key", (*path, key))
    for key in schema:
        if not key.endswith("?") and key not in value:
            yield Unreadable("missing", (*path, key))
    for key, item in value.items():
        if key in known:
            yield from _mismatches(known[key], item, (*path, key))


def _all_match(schema: Any, values: Collection[Any]) -> bool:
    """Check values of one schema together: in a tenth of the time, without a culprit.

    A value that fails is then checked item by item, which finds the culprits.
    """
    if isinstance(schema, dict):
        return set(map(type, values)) <= {dict} and _all_objects(schema, values)
    if isinstance(schema, list | set):
        return set(map(type, values)) <= {list} and _all_lists(schema, values)
    if schema is str:
        return _all_plain(values)
    if isinstance(schema, range):
        return _all_within(schema, values)
    try:
        for value in values:
            _check_one(schema, value, ())
    except Unreadable:
        return False
    return True


def _all_objects(
    schema: Mapping[str, Any], values: Collection[Mapping[str, Any]]
) -> bool:
    if "*" in schema:  # in turn: close together in memory
        return all(
            _all_match(schema["*"], value.values()) for value in values
        ) and _all_plain(set().union(*values))
    known = {key.removesuffix("?"): item for key, item in schema.items()}
    needed = known.keys() & schema.keys()
    return all(needed <= value.keys() <= known.keys() for value in values) and all(
        _all_match(item, [value[key] for value in values if key in value])
        for key, item in known.items()
    )


def _all_lists(schema: list[Any] | set[Any], values: Collection[list[Any]]) -> bool:
    if not _all_match(next(iter(schema)), list(chain.from_iterable(values))):
        return False
    if len(schema) > 1:
        return set(map(len, values)) <= {len(schema)}
    if isinstance(schema, list):
        return True
    several = [listed for listed in values if len(listed) > 1]
    return sum(map(len, map(set, several))) == sum(map(len, several))


def _all_plain(values: Collection[Any]) -> bool:
    """Check strings together: no half of a surrogate pair can be encoded."""
    if not set(map(type, values)) <= {str}:
        return False
    try:
        "".join(values).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _all_within(bounds: range, values: Collection[Any]) -> bool:
    if not values:
        return True
    if not set(map(type, values)) <= {int}:
        return False
    return bool(bounds.start <= min(values) and max(values) < bounds.stop)


def _in_list(
    schema: list[Any] | set[Any], value: list[Any], path: Path
) -> Iterator[Unreadable]:
    wrong = False
    for position, item in enumerate(value):
        for found in _mismatches(next(iter(schema)), item, (*path, position)):
            wrong = True
            yield found
    if wrong:
        return
    if len(schema) > 1 and len(value) != len(schema):
        yield Unreadable(f"{len(value)} entries, expected {len(schema)}", path)
    repeated = _first_repeated(value) if isinstance(schema, set) else None
    if repeated is not None:
        yield Unreadable(f"{shown(value[repeated])} listed twice", (*path, repeated))


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


def _parsed_integer(digits: str) -> int | _Refused:
    return int(digits) if len(digits) <= DIGITS else _Refused(TOO_LONG)


def _parsed_object(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Refused:
    built = dict(pairs)
    if len(built) == len(pairs):
        return built
    repeated = _first_repeated([key for key, _ in pairs]) or 0
    return _Refused("key given twice", pairs[repeated][0])


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
