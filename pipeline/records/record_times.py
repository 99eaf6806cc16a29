"""Times of records as milliseconds since 1970, in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

_1970: Final = datetime(1970, 1, 1, tzinfo=UTC)
MOST_MS: Final = 253_402_300_799_999
"""The last millisecond of the year 9999, the latest date."""


def milliseconds(value: object) -> int | None:
    """Convert a time, as date, ISO text, number, or digits; negative ones are unknown.

    Raises
    ------
    ValueError
        If it is not one of these, or after the year 9999.
    """
    if value is None or value == "":
        return None
    if isinstance(value, str):
        is_number = value.lstrip("-").isdigit()
        value = int(value) if is_number else datetime.fromisoformat(value)
    if isinstance(value, datetime):
        value = milliseconds_of(value)
    if isinstance(value, bool) or not isinstance(value, int) or value > MOST_MS:
        raise ValueError(f"timestamp {value!r}")
    return None if value < 0 else value


def milliseconds_of(moment: datetime) -> int:
    """Return the time since 1970 of a moment, in UTC unless it has a zone."""
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (moment - _1970) // timedelta(milliseconds=1)
