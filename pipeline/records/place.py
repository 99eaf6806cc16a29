"""Position of a record, and durations between records of one partition.

A broker's clock can go back, and a group's records can be written by another broker
after a change of leaders. The time of a record that is earlier than that of a record
before it is not used for a duration, which would be off by as much as the clock was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

NO_TIME: Final = "no-time"
WENT_BACK: Final = "clock-went-back"
UNKNOWN_DURATIONS: Final = (NO_TIME, WENT_BACK)
"""Why a duration is not known."""


class Place(NamedTuple):
    """Position of a record, and its time in milliseconds (None if unknown).

    ``went_back``: a record of the group before it has a later time.
    """

    source: str
    partition: int | None
    offset: int
    at: int | None
    went_back: bool = False

    @property
    def name(self) -> str:
        """Name of the position, unique in an audit."""
        if self.partition is None:
            return f"{self.source}:{self.offset}"
        return f"{self.partition}/{self.offset}"

    @property
    def unknown(self) -> str | None:
        """Why the time is not used for durations; None if it is."""
        if self.at is None:
            return NO_TIME
        return WENT_BACK if self.went_back else None


@dataclass(frozen=True, slots=True)
class Duration:
    """Milliseconds, or the reason why they are not known."""

    ms: int | None
    unknown: str | None = None

    def __add__(self, other: Duration) -> Duration:
        """Return the sum, which is not known if one of the two is not."""
        if self.ms is None or other.ms is None:
            return Duration(None, self.unknown or other.unknown)
        return Duration(self.ms + other.ms)

    def __mul__(self, count: int) -> Duration:
        """Return so many times the duration."""
        return Duration(None if self.ms is None else self.ms * count, self.unknown)


NO_DURATION: Final = Duration(0)


def duration(began: Place, ended: Place) -> Duration:
    """Return the time from one record to a later one of the same group."""
    unknown = began.unknown or ended.unknown
    if unknown is not None or began.at is None or ended.at is None:
        return Duration(None, unknown)
    return Duration(ended.at - began.at)


class RecordClock:
    """The latest time of a group's records so far, in milliseconds."""

    def __init__(self) -> None:
        self.latest: int | None = None

    def take(self, at: int | None) -> bool:
        """Take the time of the next record; return whether it has gone back."""
        if at is None:
            return False
        if self.latest is not None and at < self.latest:
            return True
        self.latest = at
        return False
