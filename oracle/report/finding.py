"""The headline: the main finding in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from oracle.names import abridged
from oracle.report.client_row import ClientRow
from oracle.report.facts import Facts
from oracle.report.harm import Harm, seconds_text
from oracle.report.outcomes import OutcomeCounts
from oracle.report.states import StateCounts
from oracle.wording import counted

_NOTHING: Final = "No rebalance in this source could be judged"
_UNDETERMINED: Final = "The balance of no snapshot in this source can be determined"
_NAME_SHOWN: Final = 36
_INVALID: Final = {
    (True, False): "left partitions without a reader",
    (False, True): "let several members read the same partitions",
    (True, True): "left partitions without a reader, or with several,",
}
"""By whether partitions were unread, and whether several members had one."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """The main finding: the name of a group, if it is about one, and the rest."""

    group: str = ""
    words: str

    @property
    def text(self) -> str:
        """Return the sentence without its full stop."""
        return f"{abridged(self.group, _NAME_SHOWN)} {self.words}".strip()


def headline(facts: Facts) -> Headline:
    """Return a sentence on the first group; without rebalances, on the snapshots."""
    if facts.all_clients.judged:
        first = facts.groups[0]
        if words := harm_words(first):
            return Headline(group=first.group, words=words)
        return Headline(words=summary_of(facts.all_clients))
    if facts.states.total.counted:
        return Headline(words=_of_snapshots(facts.states.total))
    return Headline(words=_NOTHING)


def harm_words(row: ClientRow) -> str:
    """Return the largest harm of a group, with its number and unit; empty if none."""
    harm, counts = row.harm, row.counts
    if harm.invalid:
        verb = _INVALID[bool(harm.unread), bool(harm.shared)]
        end = ", until the end of the history" if harm.open else ""
        rebalances = counted(harm.wrong, "rebalance")
        return f"{verb} for {_lasting(harm.invalid)} in {rebalances}{end}"
    if counts.invalid or harm.unknown:
        number = counted(max(counts.invalid, harm.unknown), "rebalance")
        end = "; how long it lasted is not known" if harm.unknown else ""
        return f"had an invalid assignment in {number}{end}"
    return _valid_words(harm, counts)


def _valid_words(harm: Harm, counts: OutcomeCounts) -> str:
    if harm.waiting:
        needed = "more than necessary"
        return f"left partitions without an owner for {_lasting(harm.waiting)} {needed}"
    if counts.needless_moves:
        moved = counted(counts.needless_moves, "partition")
        return f"moved {moved} needlessly in {counted(counts.needless, 'rebalance')}"
    if harm.imbalance:
        return f"left partitions with the wrong member for {_lasting(harm.imbalance)}"
    if counts.unbalanced:
        return f"was left unbalanced in {counted(counts.unbalanced, 'rebalance')}"
    return ""


def _lasting(milliseconds: int) -> str:
    seconds = seconds_text(milliseconds)
    return f"{seconds} partition-second{'' if seconds == '1' else 's'}"


def example_counts(row: ClientRow) -> str:
    """Return why rebalances of a group were not optimal; counts of 0 are omitted."""
    return ", ".join(
        f"{row.counts.of(name):,} {words}"
        for name, words in _EXAMPLE
        if row.counts.of(name)
    )


def summary_of(counts: OutcomeCounts) -> str:
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
