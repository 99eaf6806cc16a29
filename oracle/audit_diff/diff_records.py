"""Records of diff/1: changes between two audits, or since a night of a store.

`docs/diff.md` explains them. The JSON Schema is `docs/data/diff-1.schema.json`.
"""

from __future__ import annotations

from typing import Final, Literal

from oracle.strict_record import StrictRecord
from rebalance import Count, Optional

FORMAT: Final = "diff/1"

Figure = Literal[
    "invalid_partition_ms",
    "invalid_unknown",
    "invalid",
    "waiting_partition_ms",
    "needless_moves",
    "imbalance_partition_ms",
]


class ComparedPeriod(StrictRecord):
    """Times of which the figures are, and the extent of an audit in them."""

    since: str
    """First time, UTC."""

    until: str
    """Time after the last one, UTC."""

    lasts_ms: Count
    """Time between the two, ms; figures per day are divided by it."""

    rebalances: Count
    """Rebalances that begin in it."""

    groups: Count
    """Groups with a rebalance in it, or a state that lasts into it."""

    without_time: Count
    """Rebalances of the audit without a time, which are in no period."""

    durations_unknown: Count
    """Rebalances in it whose duration is not known, and whose harm is not counted."""

    version: Optional[str] = None
    """Version of this program that has audited; absent: a store, of several."""


class GroupFigures(StrictRecord):
    """Figures of a group in a period; partition-ms are those within it."""

    rebalances: Count
    """Rebalances that begin in it: generations and target assignments."""

    invalid: Count
    """Of these, those with a recorded assignment that violates a rule."""

    invalid_partition_ms: Count
    """Partitions that no member reads, or several, times ms."""

    invalid_unknown: Count
    """Invalid assignments whose duration is not known."""

    waiting_partition_ms: Count
    """Partitions withheld beyond those that the optimum withholds, times ms."""

    needless_moves: Count
    """Moves beyond the fewest of a balanced assignment."""

    imbalance_partition_ms: Count
    """Fewest partitions to transfer for balanced loads, times ms."""


class GroupDifference(StrictRecord):
    """A group that is worse, or better."""

    cluster: str
    """Name of the cluster."""

    group: str
    """Consumer group."""

    by: Figure
    """First figure, in the order of harm, whose values per day differ by the factor."""

    old: GroupFigures
    """Figures in the old period."""

    new: GroupFigures
    """Figures in the new period."""

    old_assignor: Optional[str] = None
    """Last assignor in the old period; absent: the same, or not known."""

    new_assignor: Optional[str] = None
    """Last assignor in the new period; absent: the same, or not known."""


class NewGroup(StrictRecord):
    """A group with harm that the old audit does not have."""

    cluster: str
    """Name of the cluster."""

    group: str
    """Consumer group."""

    by: Figure
    """First figure, in the order of harm, that is not 0."""

    new: GroupFigures
    """Figures in the new period."""


class GoneGroup(StrictRecord):
    """A group that has become empty, or was deleted, in the new period."""

    cluster: str
    """Name of the cluster."""

    group: str
    """Consumer group."""

    at: str
    """Time of the record by which it is empty or deleted, UTC."""


class NewFinding(StrictRecord):
    """A finding that agrees with an invalid answer of the new period only."""

    cluster: str
    """Name of the cluster."""

    group: str
    """Consumer group."""

    finding: str
    """Id of the finding."""

    title: str
    """Title of the finding."""

    page: str
    """Path of its page in the repository of this project."""

    rules: list[str]
    """Violated rules that it explains."""


class NewInvalid(StrictRecord):
    """An invalid answer of the new period."""

    cluster: str
    """Name of the cluster."""

    group: str
    """Consumer group."""

    rebalance_id: str
    """Id of the rebalance in the tables."""

    at: str
    """Time of the rebalance, UTC."""

    generation: Optional[Count] = None
    """Generation; absent: unknown."""

    unread_partition_ms: Optional[Count] = None
    """Partitions without a reader, times ms until the next state; absent: unknown."""

    shared_partition_ms: Optional[Count] = None
    """Partitions that several members read, times ms; absent: unknown."""


class FirstGroup(StrictRecord):
    """The group with the most harm in the new period, and in the old one."""

    cluster: str
    """Name of the cluster."""

    group: str
    """Consumer group with the most harm in the new period."""

    old_cluster: Optional[str] = None
    """Cluster of `old_group`."""

    old_group: Optional[str] = None
    """Group with the most harm in the old period; absent: none had any."""


class AuditDiff(StrictRecord):
    """Changes between two audits, or since a time."""

    format: Literal["diff/1"] = FORMAT
    """Name and version of the format."""

    old: ComparedPeriod
    """The period before."""

    new: ComparedPeriod
    """The period after it."""

    factor: Count
    """Values per day differ if one is at least so many times the other."""

    first: Optional[FirstGroup] = None
    """The group with the most harm, if that is another one than before."""

    worse: list[GroupDifference]
    """Groups that are worse, most harm in the new period first."""

    better: list[GroupDifference]
    """Groups that are better, most harm in the old period first."""

    new_groups: list[NewGroup]
    """Groups with harm that the old audit does not have, most harm first."""

    gone: list[GoneGroup]
    """Groups that became empty or were deleted, by name."""

    findings: list[NewFinding]
    """Findings that may explain invalid answers, and not any earlier one."""

    invalid: list[NewInvalid]
    """Invalid answers of the new period, most partition-time first."""

    notes: list[str]
    """Limits of this comparison, in words."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is new."""
        listed = (self.worse, self.better, self.new_groups, self.gone)
        return not (any(listed) or self.first or self.findings or self.invalid)
