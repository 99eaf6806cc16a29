"""Phrases of the sentences; names are escaped, and long lists shortened."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from oracle.explanation.statement_records import Gain, TransferRecord
from oracle.names import abridged
from oracle.wording import counted, ranges
from rebalance import Value

NAMES_SHOWN: Final = 4
TRANSFERS_SHOWN: Final = 4
NAME_SHOWN: Final = 40
LOADS_SHOWN: Final = 8
NUMBERS_SHOWN: Final = 40  # characters


def names_text(names: Sequence[str], *, many: str) -> str:
    """Format names as ``a, b and c``, or ``a, b, c and 9 other members``."""
    listed = [abridged(name, NAME_SHOWN) for name in names[:NAMES_SHOWN]]
    rest = len(names) - len(listed)
    if rest:
        return f"{', '.join(listed)} and {rest:,} other {many}"
    if len(listed) < 2:
        return "".join(listed)
    return f"{', '.join(listed[:-1])} and {listed[-1]}"


def loads_list(loads: Sequence[int]) -> str:
    """Format loads as ``11, 10, 10``, many as ``11 (3 members), 10 (9 members)``."""
    if len(loads) <= LOADS_SHOWN:
        return ", ".join(f"{load:,}" for load in loads)
    runs = [(load, len(list(same))) for load, same in groupby(loads)]
    shown = [f"{load:,} ({counted(n, 'member')})" for load, n in runs[:NAMES_SHOWN]]
    if len(runs) > NAMES_SHOWN:
        shown[-1:] = ["…", f"{runs[-1][0]:,} ({counted(runs[-1][1], 'member')})"]
    return ", ".join(shown)


def value_text(value: Value, scale: int | None) -> str:
    """Format a value of an objective; in units of 1 ÷ scale as a fraction."""
    text = loads_list(value) if isinstance(value, list) else f"{value:,}"
    if scale is None:
        return text
    return f"({text}) ÷ {scale:,}" if isinstance(value, list) else f"{text} ÷ {scale:,}"


def gain_text(gain: Gain) -> str:
    """Format the gain of transfers: ``, with 2 fewer moves``."""
    parts = []
    if gain.kip54_score:
        less = "less" if gain.kip54_score > 0 else "more"
        parts.append(f"a balance score {less} by {abs(gain.kip54_score):,}")
    if gain.moves:
        less = "fewer" if gain.moves > 0 else "more"
        moves = "move" if abs(gain.moves) == 1 else "moves"
        parts.append(f"{abs(gain.moves):,} {less} {moves}")
    return f", with {' and '.join(parts)}" if parts else ""


def first_text(shown: Sequence[str], total: int) -> str:
    """Format the first of so many parts as ``a, b, and 9 more``."""
    more = total - len(shown)
    return ", ".join(shown) + (f", and {more:,} more" if more else "")


def path_text(transfers: Sequence[TransferRecord], total: int | None = None) -> str:
    """Format transfers, of so many, as ``t:0 from a to b, u:1 from b to c``."""
    listed = [
        f"{spot_text(transfer.topic, transfer.partition)}"
        f" from {name_text(transfer.giver)} to {name_text(transfer.to)}"
        for transfer in transfers[:TRANSFERS_SHOWN]
    ]
    return first_text(listed, len(transfers) if total is None else total)


def numbers_text(partitions: Sequence[int]) -> str:
    """Format partition numbers as ``0-3, 7``, cut where they are many."""
    text = ranges(partitions)
    return text if len(text) <= NUMBERS_SHOWN else f"{text[:NUMBERS_SHOWN]}…"


def spot_text(topic: str, number: int) -> str:
    """Format a partition as ``topic:number``."""
    return f"{name_text(topic)}:{number}"


def name_text(name: str) -> str:
    """Escape and shorten a name."""
    return abridged(name, NAME_SHOWN)


def scope_text(after: Sequence[str]) -> str:
    """Format the objectives that come first: `` as good in rack and stickiness``."""
    if not after:
        return ""
    *others, last = after
    names = f"{', '.join(others)} and {last}" if others else last
    return f" as good in {names}"
