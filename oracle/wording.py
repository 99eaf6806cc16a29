"""Numbers in words, the same on the terminal and on the page."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby


def ranges(numbers: Sequence[int]) -> str:
    """Format sorted numbers with runs joined: ``0-3, 7``."""
    runs = []
    for _, run in groupby(enumerate(sorted(numbers)), lambda pair: pair[1] - pair[0]):
        members = [number for _, number in run]
        first, last = members[0], members[-1]
        runs.append(str(first) if first == last else f"{first}-{last}")
    return ", ".join(runs)


def loads_text(loads: Sequence[int] | None) -> str:
    """Format a load vector by runs: ``3×2, 2×10``."""
    if not loads:
        return "none"
    runs = [(load, len(list(same))) for load, same in groupby(loads)]
    shown = ", ".join(f"{load}×{count}" for load, count in runs[:4])
    return shown + (", …" if len(runs) > 4 else "")


def share(part: int, whole: int) -> str:
    """Format ``28 of 47 (60 %)``; 0 % and 100 % only if exact."""
    if not whole:
        return "none"
    return f"{part:,} of {whole:,} ({percent(part, whole)})"


def percent(part: int, whole: int) -> str:
    """Format a share in whole percent, ``<1 %`` and ``>99 %`` at the ends."""
    if not whole:
        return "–"
    rounded = round(100 * part / whole)
    if part and not rounded:
        return "<1 %"
    if part < whole and rounded == 100:
        return ">99 %"
    return f"{rounded} %"


def counted(number: int, word: str, many: str | None = None) -> str:
    """Format ``1 move``, ``2 moves``."""
    return f"{number:,} {word if number == 1 else many or word + 's'}"


def tenths_up(milliseconds: int) -> str:
    """Format seconds, rounded up to tenths: an upper bound remains one."""
    tenths = -(-milliseconds // 100)
    return f"{tenths // 10:,}.{tenths % 10}"
