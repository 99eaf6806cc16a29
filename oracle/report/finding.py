"""The headline: the main finding in one sentence."""

from __future__ import annotations

from typing import Final

from oracle.report.facts import ClientRow, Facts
from oracle.report.outcomes import Counts
from oracle.wording import counted

_KEEPING: Final = ("sticky", "uniform")
"""Names of sticky assignors, which keep partitions with their owners."""

_NOTHING = "No rebalance in this source could be judged"
_WORDS: Final = (
    ("needless", "moved partitions needlessly"),
    ("unbalanced", "left the group unbalanced"),
    ("invalid", "violated a rule"),
)


def headline(counts: Counts) -> str:
    """Return a sentence on how many rebalances were not optimal, and why."""
    if not counts.judged:
        return _NOTHING
    if not counts.wrong:
        rebalances = counted(counts.judged, "rebalance")
        return f"{rebalances}, each at the optimum: no assignment would be better"
    ways = [words for name, words in _WORDS if counts.of(name)]
    joined = f"{', '.join(ways[:-1])} or {ways[-1]}" if ways[1:] else ways[0]
    return f"In {counts.wrong:,} of {counts.judged:,} rebalances the clients {joined}"


def surprising(facts: Facts) -> ClientRow | None:
    """Return the group with the worst results of an assignor meant to be sticky."""
    keeping = [
        row
        for row in facts.clients
        if row.counts.wrong and any(word in (row.assignor or "") for word in _KEEPING)
    ]
    share = {row: row.counts.wrong / row.counts.judged for row in keeping}
    return max(keeping, key=lambda row: (share[row], row.counts.wrong), default=None)
