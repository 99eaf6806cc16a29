"""Numbers in words, the same on the terminal and on the page."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby


def ranges(numbers: Sequence[int]) -> str:
    """Write sorted numbers with their runs drawn together: ``0-3, 7``."""
    runs = []
    for _, run in groupby(enumerate(sorted(numbers)), lambda pair: pair[1] - pair[0]):
        members = [number for _, number in run]
        first, last = members[0], members[-1]
        runs.append(str(first) if first == last else f"{first}-{last}")
    return ", ".join(runs)


def loads_text(loads: Sequence[int] | None) -> str:
    """Write a load vector by its runs: ``3×2, 2×10``."""
    if not loads:
        return "none"
    runs = [(load, len(list(same))) for load, same in groupby(loads)]
    shown = ", ".join(f"{load}×{count}" for load, count in runs[:4])
    return shown + (", …" if len(runs) > 4 else "")


def share(part: int, whole: int) -> str:
    """Write ``28 of 47 (60 %)``; a share is 0 or 100 % only when it is that."""
    if not whole:
        return "none"
    return f"{part:,} of {whole:,} ({percent(part, whole)})"


def percent(part: int, whole: int) -> str:
    """Write a share in whole percent, ``<1 %`` and ``>99 %`` at the ends."""
    if not whole:
        return "–"
    rounded = round(100 * part / whole)
    if part and not rounded:
        return "<1 %"
    if part < whole and rounded == 100:
        return ">99 %"
    return f"{rounded} %"


def counted(number: int, one: str, many: str | None = None) -> str:
    """Write ``1 move``, ``2 moves``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
