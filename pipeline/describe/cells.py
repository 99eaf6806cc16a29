"""Parse the cells of describe tables that contain more than a name."""

from __future__ import annotations

import re
from typing import Final

from pipeline.cases import Held
from pipeline.sightings import MOST_PARTITIONS

MISSING: Final = "-"
_NO_NUMBER: Final = (MISSING, "unknown", "")
_NAMED: Final = re.compile(r"([^\s:;()]+):(\d+(?:,\d+)*)\Z")  # Kafka 4: topic:0,1;…
_BRACKETS: Final = re.compile(r"([^\s:;()]*)\((\d+(?:,\d+)*)\)\Z")  # topic(0,1), …
_BETWEEN: Final = re.compile(r"(?<=\)),\s*")


class CellError(ValueError):
    """A cell that does not match its column; the message states why."""


class UnnamedTopicsError(CellError):
    """An assignment without topic names, as the tool of 3.7 to 3.9 prints it."""


def number_of(cell: str, name: str, *, most: int) -> int | None:
    """Parse a number; ``-``, and ``unknown`` of Kafka 0.9, is None.

    Raises
    ------
    CellError
        If it is not a number, or larger than ``most``.
    """
    if cell in _NO_NUMBER:
        return None
    if not re.fullmatch(r"-?\d{1,19}", cell) or abs(int(cell)) > most:
        raise CellError(f"{name} is {cell[:40]!r}, no number up to {most}")
    return int(cell)


def partition_of(cell: str) -> int | None:
    """Parse a partition number, below the limit that records have; ``-`` is None.

    Raises
    ------
    CellError
        If it is not a number, negative, or above the limit.
    """
    number = number_of(cell, "partition", most=MOST_PARTITIONS - 1)
    if number is not None and number < 0:
        raise CellError(f"partition is {cell[:40]!r}, below 0")
    return number


def assignment_of(cell: str) -> Held:
    """Parse ``t:0,1;u:2``, or ``t(0,1), u(2)`` of older tools; ``-`` and '' are empty.

    Raises
    ------
    UnnamedTopicsError
        If it is ``(0,1), (2)``, without topic names.
    CellError
        If it has none of these forms.
    """
    if cell in (MISSING, ""):
        return {}
    held: dict[str, list[int]] = {}
    pattern, parts = (
        (_BRACKETS, _BETWEEN.split(cell))
        if cell.endswith(")")
        else (_NAMED, cell.split(";"))
    )
    for part in parts:
        match = pattern.match(part)
        if match is None:
            raise CellError(f"assignment {cell[:40]!r} does not read")
        topic = match[1]
        numbers = [partition_of(n) or 0 for n in match[2].split(",")]
        if not topic:
            raise UnnamedTopicsError("assignment without topic names")
        held.setdefault(topic, []).extend(numbers)
    return {topic: sorted(held[topic]) for topic in sorted(held)}
