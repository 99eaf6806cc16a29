"""Records of audit-summary/2: an audit in one document, for programs.

`docs/audit.md` explains them. The JSON Schema is
`docs/data/audit-summary-2.schema.json`.
"""

from __future__ import annotations

from typing import Final, Literal

from oracle.strict_record import StrictRecord
from rebalance import Count, Optional

FORMAT: Final = "audit-summary/2"


class SummarizedGroup(StrictRecord):
    """A row of the page's table of groups: a group and an assignor that it used.

    A cooperative rebalance counts once, from one stable state to the next.
    """

    cluster: str
    """Name of the cluster."""

    group: str
    """Consumer group."""

    assignor: Optional[str] = None
    """Assignor; absent: unknown."""

    judged: Count
    """Judged rebalances."""

    at_optimum: Count
    """Of these, dec-min balanced ones with the fewest moves."""

    moved_needlessly: Count
    """Dec-min balanced ones with more moves."""

    needless_moves: Count
    """Moves beyond the fewest, summed over these."""

    unbalanced: Count
    """Rebalances that are not dec-min balanced."""

    invalid: Count
    """Rebalances that violate a rule."""

    open: Count
    """Undecided ones: no proof, or a cooperative rebalance that was not finished."""

    unread_partition_ms: Optional[Count] = None
    """Partitions without a reader, times ms; absent: unknown."""

    shared_partition_ms: Optional[Count] = None
    """Partitions that several members read, times ms; absent: unknown."""

    waiting_partition_ms: Optional[Count] = None
    """Partitions withheld beyond those that the optimum withholds, times ms."""

    imbalance_partition_ms: Optional[Count] = None
    """Fewest partitions to transfer for balanced loads, times ms; absent: unknown."""

    invalid_unknown: Count
    """Invalid assignments whose duration is not known."""

    lasts_to_end: bool
    """Whether unread or shared partitions remain at the end of the history."""

    advice: str
    """The line of advice."""


class SummarizedSnapshots(StrictRecord):
    """Snapshots of a group."""

    cluster: str
    """Name of the cluster."""

    group: str
    """Consumer group."""

    balanced: Count
    """Dec-min balanced states."""

    unbalanced: Count
    """States that are not dec-min balanced."""

    invalid: Count
    """States that violate a rule."""

    undetermined: Count
    """States whose balance depends on unreported facts."""

    balanced_if_equal: Count
    """Of these, balanced ones if all members subscribe to the same topics."""

    unbalanced_if_equal: Count
    """Of these, unbalanced ones if all members subscribe to the same topics."""

    in_records: Count
    """States that the records contain, and that are counted there."""


class AuditSummaryDocument(StrictRecord):
    """An audit: its first sentence, its extent, and the figures of each group."""

    format: Literal["audit-summary/2"] = FORMAT
    """Name and version of the format."""

    cluster: str
    """Name of the audited cluster."""

    headline: str
    """First sentence of the page, without its full stop."""

    since: Optional[str] = None
    """First time that was asked for, UTC; absent: from the beginning."""

    until: Optional[str] = None
    """Time before which rebalances were asked for, UTC; absent: to the end."""

    asked_groups: Optional[list[str]] = None
    """Groups that were asked for; absent: all."""

    newest_record: Optional[str] = None
    """Time of the newest record that was read, UTC; absent: no record has a time."""

    started: str
    """When the audit began, UTC."""

    finished: str
    """When its tables were complete, UTC."""

    versions: dict[str, str]
    """Versions of this program and of its libraries."""

    java: str
    """Version of Java."""

    page: str
    """Place of the page."""

    tables: dict[str, str]
    """Places of the tables."""

    rows: dict[str, Count]
    """Rows per table."""

    quarantine: dict[str, Count]
    """Records that were not judged, per kind and reason, most frequent first."""

    groups: list[SummarizedGroup]
    """The rows of the page's table of groups, all of them, most harm first."""

    snapshots: list[SummarizedSnapshots]
    """Snapshots by group."""
