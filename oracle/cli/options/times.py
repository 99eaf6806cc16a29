"""Times on the command line: a window from ``--since`` to before ``--until``."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Final

import typer

_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_FORMS: Final = (
    "2026-11-24T08:30Z, 2026-11-24T09:30+01:00, a date (its begin in UTC), or 24h or "
    "7d before now"
)


def parse_time(text: str) -> datetime:
    """Parse a time with its zone, a date in UTC, or a duration before now.

    Raises
    ------
    BadParameter
        If the text is neither, or a time without a zone.
    """
    text = text.strip()
    if relative := re.fullmatch(r"([0-9]{1,9})\s*([smhd])", text):
        return _before_now(text, timedelta(**{_UNITS[relative[2]]: int(relative[1])}))
    try:
        if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
            day = date.fromisoformat(text)
            return datetime(day.year, day.month, day.day, tzinfo=UTC)
        at = datetime.fromisoformat(text)
        if at.tzinfo is not None:
            return at.astimezone(UTC)
    except (ValueError, OverflowError):
        raise typer.BadParameter(f"{text!r} is not a time: write {_FORMS}") from None
    raise typer.BadParameter(f"{text!r} has no zone: write {_FORMS}")


def _before_now(text: str, ago: timedelta) -> datetime:
    try:
        return datetime.now(UTC).replace(microsecond=0) - ago
    except OverflowError:
        raise typer.BadParameter(f"{text!r} is before all times") from None


def time_words(at: datetime) -> str:
    """Return a time as `parse_time` reads it."""
    return at.astimezone(UTC).isoformat().removesuffix("+00:00") + "Z"


def check_window(since: datetime | None, until: datetime | None) -> None:
    """Raise BadParameter if no time is in a window."""
    if since is not None and until is not None and since >= until:
        reason = f"--since {time_words(since)} is not before --until"
        raise typer.BadParameter(f"{reason} {time_words(until)}")


SinceOption = Annotated[
    datetime | None,
    typer.Option(
        parser=parse_time,
        metavar="TIME",
        help="Only rebalances and snapshots from this time on: with its zone, "
        "2026-11-24T08:30Z; a date, whose day begins in UTC; or 24h, 7d before the "
        "clock's present time.",
    ),
]
UntilOption = Annotated[
    datetime | None,
    typer.Option(
        parser=parse_time,
        metavar="TIME",
        help="Only rebalances and snapshots before this time, in the forms of --since.",
    ),
]
