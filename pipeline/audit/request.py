"""The sources to audit, and the rules: the options of an audit as one value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pipeline.audit.case_choice import CaseChoice
from pipeline.files import Location
from pipeline.time_window import TimeWindow
from rebalance import MAX_PARTITIONS, ClaimRule, OffsetReset


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRequest:
    """Sources, side files, and rules of an audit, and where it writes."""

    sources: Sequence[Location]
    """Files and folders in any format of `pipeline.sources.source_kind.SourceKind`:
    paths, or URIs of any file system that Hadoop supports."""
    out: Location
    """Folder for the tables, the page, and ``audit.json``: a path or a URI; created if
    absent. On a cluster, all workers must have access to it and to the sources."""
    history: Location | None = None
    """Folder of a store (`pipeline.nights`): only records after those of its earlier
    audits are read, and ``out`` receives the tables of all."""
    keep_days: int | None = None
    """Days before the newest one that a store keeps; None: all."""
    cluster: str = "local"
    """Name of the audited cluster."""
    topics: Location | None = None
    """Partition counts (`pipeline.side_files.sidecars`).

    None, here and for the next two: the file of this name in a folder of sources, if
    there is one (``topics.json``, ``offsets.json``, ``subscriptions.json``).
    """
    offsets: Location | None = None
    """Log ends (`pipeline.side_files.sidecars`)."""
    subscriptions: Location | None = None
    """Subscriptions that no source reports, by group."""
    lag: Sequence[Location] = ()
    """Files with lag of a monitoring system (`pipeline.side_files.lag_metrics`)."""
    offset_reset: OffsetReset = OffsetReset.EARLIEST
    """Where lag starts if nothing was committed."""
    source_format: str | None = None
    """Format of all files; None: it is detected."""
    columns: str | None = None
    """Names of the columns of records, such as ``value=payload``
    (`pipeline.sources.record_format`)."""
    encoding: str | None = None
    """How key and value are written (`pipeline.sources.record_format`)."""
    group_name: str | None = None
    """Group of describe tables without a column GROUP."""
    since: datetime | None = None
    """Judge only rebalances and snapshots from this time on, which has a zone."""
    until: datetime | None = None
    """Judge only rebalances and snapshots before this time, which has a zone."""
    groups: Sequence[str] = ()
    """Judge only these groups; ``*`` stands for any characters. Empty: all groups."""
    claim_rule: ClaimRule = ClaimRule.NEWEST_CLAIM
    max_partitions: int = MAX_PARTITIONS
    """Reject larger instances, and larger counts in ``topics``."""
    assignors: Sequence[str] | None = None
    """Names of `pipeline.evaluation.KNOWN`, or ``all``; None: all but kip54-sticky."""
    master: str | None = None
    """Spark's master, such as ``local[2]``; None: that of ``spark-submit``, or else all
    cores of this machine."""
    tasks: int | None = None
    """Number of parts of the work; None: determined by the number of cores."""

    @property
    def choice(self) -> CaseChoice:
        """The cases that are judged.

        Raises
        ------
        SourceError
            If there cannot be any: no time is in the window, or a name is empty.
        """
        window = TimeWindow(since=self.since, until=self.until)
        return CaseChoice(window=window, groups=tuple(self.groups))
