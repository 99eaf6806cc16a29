"""The headline: the main finding in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from oracle.report.client_row import ClientRow
from oracle.report.facts import Facts
from oracle.report.outcomes import OutcomeCounts
from oracle.report.states import StateCounts
from oracle.wording import counted

_NOTHING: Final = "No rebalance in this source could be judged"
_UNDETERMINED: Final = "The balance of no snapshot in this source can be determined"
_WORDS: Final = (
    ("needless", "moved partitions needlessly"),
    ("unbalanced", "left the group unbalanced"),
    ("invalid", "violated a rule"),
)
_EXAMPLE: Final = (
    ("needless", "with needless moves"),
    ("unbalanced", "unbalanced"),
    ("invalid", "invalid"),
)


def headline(facts: Facts) -> str:
    """Return a sentence on the rebalances; without any, on the snapshots."""
    if facts.all_clients.judged:
        return _of_rebalances(facts.all_clients)
    if facts.states.total.counted:
        return _of_snapshots(facts.states.total)
    return _NOTHING


def example_counts(row: ClientRow) -> str:
    """Return why rebalances of a group were not optimal; counts of 0 are omitted."""
    return ", ".join(
        f"{row.counts.of(name):,} {words}"
        for name, words in _EXAMPLE
        if row.counts.of(name)
    )


def _of_rebalances(counts: OutcomeCounts) -> str:
    """State how many rebalances were not optimal, and why."""
    if not counts.wrong:
        rebalances = counted(counts.judged, "rebalance")
        return f"{rebalances}, each at the optimum: no assignment would be better"
    ways = [words for name, words in _WORDS if counts.of(name)]
    joined = _joined(ways, "or")
    return (
        f"In {counts.wrong:,} of {counts.judged:,} rebalances the assignment {joined}"
    )


def _of_snapshots(counts: StateCounts) -> str:
    """State how many snapshots are unbalanced; of the others, this is not known."""
    if not counts.judged:
        return _UNDETERMINED
    found = [
        f"{number:,} {'is' if number == 1 else 'are'} {word}"
        for number, word in (
            (counts.unbalanced, "unbalanced"),
            (counts.invalid, "invalid"),
        )
        if number
    ] or [f"{counts.balanced:,} {'is' if counts.balanced == 1 else 'are'} balanced"]
    return f"Of {counted(counts.counted, 'snapshot')}, {_joined(found, 'and')}"


def _joined(parts: Sequence[str], word: str) -> str:
    return f"{', '.join(parts[:-1])} {word} {parts[-1]}" if parts[1:] else parts[0]
