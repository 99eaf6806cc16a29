"""Strict JSON: a parser that accepts one reading only, and schemas for its values.

A schema is plain data: ``str``, ``bool``, a ``range`` of integers, a tuple of strings,
an object by key (``key?`` may be missing, ``*`` is any name), ``[item]`` for a list,
``[item, item]`` for one of two, ``{item}`` for one without repetition; or a function.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

INT64_MAX = 2**63 - 1
COUNT = range(INT64_MAX + 1)
POSITIVE = range(1, INT64_MAX + 1)
INT64 = range(-INT64_MAX, INT64_MAX + 1)
DIGITS = 20  # an integer with more digits is beyond int64, sign included
LISTED_MAX = 100  # wrong values per document that are listed
SHOWN = 80  # characters of a wrong value that a message repeats
ALIKE = bytes(48 if 48 <= byte <= 57 else 32 for byte in range(256))  # any digit as 0
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
        one for found in islice(culprits, LISTED_MAX + 1) for one in found.culprits
    ]
    if not listed:
        return
    if len(listed) > LISTED_MAX:
        listed[LISTED_MAX:] = [("$", f"more than {LISTED_MAX} wrong values")]
    (path, reason), *more = listed
    raise Unreadable(reason, path, more)


class _Odd:
    """Value of a parsed document where JSON says what no document may say."""

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
            # Python's own integers are parsed ten times faster than by a function.
            parse_int=_integer_or_odd if _has_long_number(decoded) else None,
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
    """Raise `Unreadable` with the parts of a value that do not match."""
    refuse(_mismatches(schema, value, path))


def _mismatches(schema: Any, value: Any, path: Path) -> Iterator[Unreadable]:
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
        if value not in schema:
            reason = f"{value} is not within {schema.start} and {schema.stop - 1}"
            raise Unreadable(reason, path)
    elif isinstance(schema, tuple):
        expect(str, value, path)
        if value not in schema:
            raise Unreadable(f"{shown(value)} is none of {', '.join(schema)}", path)
    else:
        schema(value, path)


def expect(kind: type, value: object, path: Path) -> None:
    """Reject a value of another type; ``True`` is not an integer."""
    if type(value) is not kind:
        raise _wrong_kind(kind, value, path)


def _wrong_kind(kind: type, value: object, path: Path) -> Unreadable:
    if isinstance(value, _Odd):
        return Unreadable(value.reason, (*path, *value.steps))
    names = {dict: "object", list: "list", int: "integer", str: "string"}
    return Unreadable(f"{shown(value)} is no {names.get(kind, 'boolean')}", path)


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
        if _all_match(schema["*"], value):
            return
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


def _all_match(schema: Any, value: Mapping[Any, Any]) -> bool:
    """Check an object of integers, or of lists of integers, at once.

    A million short lists take a tenth of the time. What fails, and what has another
    schema, is then checked item by item, which finds the first culprit.
    """
    lists: Collection[Any] = value.values()
    numbers: Sequence[Any] = list(lists)
    of = schema
    if isinstance(schema, list | set) and len(schema) == 1:
        if not set(map(type, lists)) <= {list}:
            return False
        (of,) = schema
        numbers = list(chain.from_iterable(lists))
    if not (isinstance(of, range) and _all_within(of, numbers)):
        return False
    if isinstance(schema, set):
        several = [listed for listed in lists if len(listed) > 1]
        if sum(map(len, map(set, several))) < sum(map(len, several)):
            return False
    return _all_plain(value)


def _all_plain(value: Collection[Any]) -> bool:
    """Check strings at once: ASCII has no half of a surrogate pair."""
    return set(map(type, value)) <= {str} and "".join(value).isascii()


def _in_list(
    schema: list[Any] | set[Any], value: list[Any], path: Path
) -> Iterator[Unreadable]:
    of = next(iter(schema))
    at_once = isinstance(of, range) and _all_within(of, value)
    if not (at_once or (of is str and _all_plain(value))):
        wrong = False
        for position, item in enumerate(value):
            for found in _mismatches(of, item, (*path, position)):
                wrong = True
                yield found
        if wrong:
            return
    if len(schema) > 1 and len(value) != len(schema):
        yield Unreadable(f"{len(value)} entries, expected {len(schema)}", path)
    repeated = _first_repeated(value) if isinstance(schema, set) else None
    if repeated is not None:
        yield Unreadable(f"{shown(value[repeated])} listed twice", (*path, repeated))


def _all_within(bounds: range, value: Sequence[Any]) -> bool:
    """Check a list of integers at once; what fails is then checked item by item."""
    if not value:
        return True
    if not set(map(type, value)) <= {int}:
        return False
    return bool(bounds.start <= min(value) and max(value) < bounds.stop)


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


def _has_long_number(text: str) -> bool:
    """Return whether a text has as many digits in a row as no int64 has."""
    digits = text.encode("utf-8", "surrogatepass").translate(ALIKE)
    return b"0" * DIGITS in digits


def _integer_or_odd(digits: str) -> int | _Odd:
    return int(digits) if len(digits) <= DIGITS else _Odd("integer beyond 64 bits")


def _object_or_odd(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Odd:
    built = dict(pairs)
    if len(built) == len(pairs):
        return built
    repeated = _first_repeated([key for key, _ in pairs]) or 0
    return _Odd("key given twice", pairs[repeated][0])


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
