"""Strict JSON: a parser that accepts one reading only, and schemas for its values.

A schema is called with a value and its path, and raises `Unreadable` with the JSON path
of the first part that does not match.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

INT64_MAX = 2**63 - 1
DIGITS = 20  # an integer with more digits is beyond int64, sign included
SHOWN = 80  # characters of a wrong value that a message repeats
PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")

Path = tuple[str | int, ...]
Schema = Callable[[Any, Path], None]


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


@dataclass(frozen=True, slots=True)
class Fields:
    """Schema of an object with these keys and no others."""

    required: Mapping[str, Schema]
    optional: Mapping[str, Schema] = field(default_factory=dict)

    def __call__(self, value: Any, path: Path) -> None:
        """Check the keys, then the value of each."""
        expect(dict, value, path)
        known = {**self.required, **self.optional}
        for key in value:
            if key not in known:
                raise Unreadable("unknown key", (*path, key))
        for key in self.required:
            if key not in value:
                raise Unreadable("missing", (*path, key))
        for key, item in value.items():
            known[key](item, (*path, key))


@dataclass(frozen=True, slots=True)
class Table:
    """Schema of an object whose keys are names."""

    of: Schema

    def __call__(self, value: Any, path: Path) -> None:
        """Check every name and its value."""
        expect(dict, value, path)
        for key, item in value.items():
            text(key, (*path, key))
            self.of(item, (*path, key))


@dataclass(frozen=True, slots=True)
class Integer:
    """Schema of an integer within bounds, both included."""

    least: int = 0
    most: int = INT64_MAX

    def __call__(self, value: Any, path: Path) -> None:
        """Check type and bounds."""
        expect(int, value, path)
        if not self.least <= value <= self.most:
            reason = f"{value} is not within {self.least} and {self.most}"
            raise Unreadable(reason, path)

    def holds_for_all(self, values: Sequence[Any]) -> bool:
        """Check a list at once, which is quicker."""
        plain = all(type(number) is int for number in values)
        return plain and self.least <= min(values) and max(values) <= self.most


@dataclass(frozen=True, slots=True)
class Each:
    """Schema of a list: of any length, or of one; with or without repeated items."""

    of: Schema
    length: int | None = None
    distinct: bool = False

    def __call__(self, value: Any, path: Path) -> None:
        """Check the items, their number, then repetition."""
        expect(list, value, path)
        quick = value and isinstance(self.of, Integer) and self.of.holds_for_all(value)
        for position, item in enumerate(() if quick else value):
            self.of(item, (*path, position))
        if self.length not in {None, len(value)}:
            raise Unreadable(f"{len(value)} entries, expected {self.length}", path)
        repeated = _first_repeated(value) if self.distinct else None
        if repeated is not None:
            reason = f"{shown(value[repeated])} listed twice"
            raise Unreadable(reason, (*path, repeated))


@dataclass(frozen=True, slots=True)
class OneOf:
    """Schema of one of some strings."""

    choices: Sequence[str]

    def __call__(self, value: Any, path: Path) -> None:
        """Check type and choice."""
        expect(str, value, path)
        if value not in self.choices:
            reason = f"{shown(value)} is none of {', '.join(self.choices)}"
            raise Unreadable(reason, path)


def text(value: Any, path: Path) -> None:
    """Check for a string, which must be Unicode."""
    expect(str, value, path)
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise Unreadable("half a surrogate pair in a string", path) from None


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
