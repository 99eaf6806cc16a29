"""A window of time: of the moments of a history, those that are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rebalance import Bools, SourceError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeWindow:
    """The times from ``since`` to before ``until``; None: without a bound.

    Raises
    ------
    SourceError
        If a time has no zone, or ``since`` is not before ``until``.
    """

    since: datetime | None = None
    until: datetime | None = None

    def __post_init__(self) -> None:
        for name, at in (("since", self.since), ("until", self.until)):
            if at is not None and at.tzinfo is None:
                raise SourceError("a time without a zone", source=name)
        since, until = self.since, self.until
        if since is not None and until is not None and since >= until:
            reason = f"{time_text(since)} is not before until, {time_text(until)}"
            raise SourceError(reason, source="since")

    @property
    def is_bounded(self) -> bool:
        """Whether it has a bound, so that a moment without a time is not in it."""
        return self.since is not None or self.until is not None

    def has(self, at: datetime | None) -> bool:
        """Return whether a moment is in it; None: its time is not known."""
        return self.has_ms(None if at is None else _milliseconds(at))

    def has_ms(self, at: int | None) -> bool:
        """Return whether a moment in milliseconds since 1970 is in it."""
        if at is None:
            return not self.is_bounded
        since, until = map(_least_ms, (self.since, self.until))
        return (since is None or at >= since) and (until is None or at < until)

    def of_column(self, at: pa.ChunkedArray) -> Bools:
        """Return which moments are in it; ``at`` are milliseconds, or null."""
        found = np.ones(len(at), np.bool_)
        if not self.is_bounded:
            return found
        found &= np.asarray(pc.is_valid(at))
        times = np.asarray(pc.fill_null(at, 0))
        since, until = map(_least_ms, (self.since, self.until))
        if since is not None:
            found &= times >= since
        if until is not None:
            found &= times < until
        return found

    def __str__(self) -> str:
        """Describe it: from a time, until a time, or both."""
        words = (("from", self.since), ("until", self.until))
        return " ".join(f"{word} {_shown(at)}" for word, at in words if at is not None)


ALL_TIMES = TimeWindow()


def time_text(at: datetime) -> str:
    """Return a time in UTC as ISO 8601, such as ``2026-11-24T00:00:00Z``."""
    return at.astimezone(UTC).isoformat().removesuffix("+00:00") + "Z"


def _shown(at: datetime) -> str:
    text = at.astimezone(UTC).isoformat(" ").removesuffix("+00:00")
    return f"{text.removesuffix(':00')} UTC"


def _milliseconds(at: datetime) -> int:
    return (at - _EPOCH) // _MILLISECOND


def _least_ms(bound: datetime | None) -> int | None:
    """Return the first whole millisecond that is not before a bound."""
    return None if bound is None else -((_EPOCH - bound) // _MILLISECOND)
