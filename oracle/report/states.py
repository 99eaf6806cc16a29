"""Snapshots by group: states of a group, which are not rebalances and have no moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from oracle.report.load import Tables
from oracle.report.outcomes import OutcomeCounts, added, counts_of
from oracle.summary import equals, is_true, summed

REASONS_LISTED: Final = 8
_LINES: Final = "the text contradicts itself in a line"
GROUPS_LISTED: Final = 12
"""Groups in the table, worst first; the others are one row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateCounts:
    """Snapshots by the facts that are known of them.

    Attributes
    ----------
    balanced : dec-min balanced; its source reports the subscriptions
    unbalanced : not dec-min balanced, whatever is not reported
    invalid : violates a rule
    undetermined : depends on unreported facts; describe text never shows balance
    if_balanced, if_unbalanced : of these, balanced or not if the group was at rest and
        all members subscribe to the same topics
    recorded : shows a state that the records contain; it is counted there
    """

    balanced: int = 0
    unbalanced: int = 0
    invalid: int = 0
    undetermined: int = 0
    if_balanced: int = 0
    if_unbalanced: int = 0
    recorded: int = 0

    @property
    def judged(self) -> int:
        """Snapshots with a verdict that is counted."""
        return self.balanced + self.unbalanced + self.invalid

    @property
    def counted(self) -> int:
        """Snapshots without those that the records contain."""
        return self.judged + self.undetermined

    @property
    def bar(self) -> OutcomeCounts:
        """The same in the colours of the outcomes of rebalances."""
        return OutcomeCounts(
            optimum=self.balanced,
            unbalanced=self.unbalanced,
            invalid=self.invalid,
            open=self.undetermined,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StateRow:
    """Snapshots of one group."""

    cluster: str
    group: str
    counts: StateCounts


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why the balance of some snapshots cannot be determined, and of how many."""

    text: str
    snapshots: int


@dataclass(frozen=True, slots=True, kw_only=True)
class States:
    """All snapshots; ``others`` are the groups that are not listed."""

    rows: tuple[StateRow, ...]
    reasons: tuple[Reason, ...]
    others: StateCounts
    others_count: int
    total: StateCounts
    groups: int


def states_of(tables: Tables) -> States:
    """Count the snapshots of each group, those with most to gain first."""
    rows = [
        StateRow(
            cluster=row["cluster"],
            group=row["group_id"],
            counts=counts_of(StateCounts, row),
        )
        for row in _summands(tables.snapshots).to_pylist()
    ]
    rows.sort(key=_most_to_gain)
    listed, rest = rows[:GROUPS_LISTED], rows[GROUPS_LISTED:]
    return States(
        rows=tuple(listed),
        reasons=_reasons(tables.snapshots),
        others=added(StateCounts, [row.counts for row in rest]),
        others_count=len(rest),
        total=added(StateCounts, [row.counts for row in rows]),
        groups=len(rows),
    )


def _reasons(snapshots: pa.Table) -> tuple[Reason, ...]:
    """Return the most frequent reasons; those of single lines are one."""
    own = snapshots.filter(pc.is_null(snapshots["state_of"]))
    known = pc.replace_substring_regex(own["undetermined"], r"^line \d+: .*", _LINES)
    counted = pc.value_counts(known.combine_chunks().drop_null()).to_pylist()
    found = [Reason(text=row["values"], snapshots=row["counts"]) for row in counted]
    found.sort(key=lambda reason: (-reason.snapshots, reason.text))
    return tuple(found[:REASONS_LISTED])


def _most_to_gain(row: StateRow) -> tuple[int, int, str, str]:
    counts = row.counts
    wrong = counts.unbalanced + counts.invalid
    return -wrong, -counts.judged, row.cluster, row.group


def _summands(snapshots: pa.Table) -> pa.Table:
    """Return the sums of each group."""
    own = pc.is_null(snapshots["state_of"])
    is_invalid = pc.and_(own, equals(snapshots["verdict"], "invalid"))
    other = pc.and_(own, pc.invert(is_invalid))
    balanced = snapshots["dec_min_balanced"]
    unknown = pc.and_(other, pc.is_null(balanced))
    if_equal = snapshots["balanced_if_equal"]
    flags = {
        "balanced": pc.and_(other, is_true(balanced)),
        "unbalanced": pc.and_(other, is_true(pc.invert(balanced))),
        "invalid": is_invalid,
        "undetermined": unknown,
        "if_balanced": pc.and_(unknown, is_true(if_equal)),
        "if_unbalanced": pc.and_(unknown, is_true(pc.invert(if_equal))),
        "recorded": pc.invert(own),
    }
    columns = {name: snapshots[name] for name in ("cluster", "group_id")}
    columns |= {name: pc.cast(flag, pa.int64()) for name, flag in flags.items()}
    return summed(pa.table(columns), ["cluster", "group_id"])
