"""Times of periods in milliseconds since 1970, and as text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MS: Final = timedelta(milliseconds=1)


def ms_of(at: datetime | str) -> int:
    """Return a time in milliseconds since 1970."""
    moment = datetime.fromisoformat(at) if isinstance(at, str) else at
    return (moment - _EPOCH) // _MS


def moment_of(ms: int) -> datetime:
    """Return the time of milliseconds since 1970."""
    return _EPOCH + ms * _MS


def time_of(ms: int) -> str:
    """Return it as ISO 8601, UTC, in milliseconds."""
    return moment_of(ms).isoformat(timespec="milliseconds")
