"""Durations on the command line: seconds, or a number with a unit."""

from __future__ import annotations

import re
from typing import Final

import typer

_SECONDS: Final = {"": 1, "s": 1, "m": 60, "h": 3_600, "d": 86_400}
_LONGEST: Final = 366 * 86_400


def parse_duration(text: str) -> float:
    """Parse ``90``, ``90s``, ``5m``, ``1h`` or ``1d`` into seconds.

    Raises
    ------
    BadParameter
        If the text is not a duration above 0, or one of more than a year.
    """
    found = re.fullmatch(r"([0-9]{1,12}(?:\.[0-9]{1,6})?)\s*([smhd]?)", text.strip())
    seconds = 0.0 if found is None else float(found[1]) * _SECONDS[found[2]]
    if not 0 < seconds <= _LONGEST:
        known = "write 90, 90s, 5m, 1h, or 1d, up to a year"
        raise typer.BadParameter(f"{text!r} is not a duration above 0; {known}")
    return seconds
