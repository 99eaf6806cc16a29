"""Where a record is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Position of a record, and its time in milliseconds (None if unknown)."""

    source: str
    partition: int | None
    offset: int
    at: int | None
