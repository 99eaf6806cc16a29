"""Snapshots by group: states of a group, which are no rebalances and have no moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Final

import pandas as pd

from oracle.report.load import Tables
from oracle.report.outcomes import Counts

GROUPS_LISTED: Final = 40
"""Groups in the table, worst first; the others are one row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateCounts:
    """Snapshots by what is known of them; they add up to all.

    Attributes
    ----------
    balanced, unbalanced : dec-min balanced or not, whatever is not reported
    invalid : violates a rule
    undetermined : depends on subscriptions that are not reported
    recorded : shows a state that the records contain; it is counted there
    """

    balanced: int = 0
    unbalanced: int = 0
    invalid: int = 0
    undetermined: int = 0
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
    def bar(self) -> Counts:
        """The same in the colours of the outcomes of rebalances."""
        return Counts(
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
class States:
    """All snapshots; ``others`` are the groups that are not listed."""

    rows: tuple[StateRow, ...]
    others: StateCounts
    others_count: int
    total: StateCounts
    groups: int


def states_of(tables: Tables) -> States:
    """Count the snapshots of each group, those with most to gain first."""
    grouped = tables.snapshots.groupby(["cluster", "group_id"])
    rows = [
        StateRow(cluster=str(cluster), group=str(group), counts=_counts(found))
        for (cluster, group), found in grouped
    ]
    rows.sort(key=_most_to_gain)
    listed, rest = rows[:GROUPS_LISTED], rows[GROUPS_LISTED:]
    return States(
        rows=tuple(listed),
        others=_sum([row.counts for row in rest]),
        others_count=len(rest),
        total=_sum([row.counts for row in rows]),
        groups=len(rows),
    )


def _most_to_gain(row: StateRow) -> tuple[int, int, str, str]:
    counts = row.counts
    wrong = counts.unbalanced + counts.invalid
    return -wrong, -counts.judged, row.cluster, row.group


def _counts(rows: pd.DataFrame) -> StateCounts:
    own = rows[rows["state_of"].isna()]
    is_invalid = (own["verdict"] == "invalid").fillna(False)
    balanced = own[~is_invalid]["dec_min_balanced"]
    return StateCounts(
        balanced=int(balanced.fillna(False).sum()),
        unbalanced=int((~balanced).fillna(False).sum()),
        invalid=int(is_invalid.sum()),
        undetermined=int(balanced.isna().sum()),
        recorded=len(rows) - len(own),
    )


def _sum(counts: Sequence[StateCounts]) -> StateCounts:
    names = [field.name for field in fields(StateCounts)]
    return StateCounts(
        **{name: sum(getattr(one, name) for one in counts) for name in names}
    )
