"""The rebalance/1 document of a case.

Partition counts are as of the rebalance (`pipeline.judging.partition_counts`). A topic
of which no partition is known is omitted; a subscription to it contributes no
partitions.

If log ends are given, which were read once at the end of the recording, the lag of a
partition is the number of records from the offset committed at the rebalance up to that
end. The lag at the time of the rebalance itself is not recorded. If nothing was
committed, ``auto.offset.reset`` determines where lag starts (`rebalance.lag`). The log
ends of a topic are not used if they were read before the rebalance, if an offset was
committed beyond them, or if the topic was deleted since: they are then of another log.
Topics without log ends have the lag that a monitoring system reported for the group, if
any. `pipeline.judging.case_instances` computes all this, for many cases at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from pipeline.judging.partition_counts import CountSources
from pipeline.side_files.given_subscriptions import GivenSubscriptions
from pipeline.side_files.lag_metrics import LagOfGroups
from pipeline.side_files.sidecars import LogsFile
from rebalance import MAX_PARTITIONS, OffsetReset, Rebalance, parse_rebalance

LAG_AT_END: Final = "end-of-recording"
LAG_MONITORED: Final = "monitored"
LAG_SNAPSHOT: Final = "snapshot"
LAG_GIVEN: Final = "given"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFacts:
    """Facts of the cluster beyond its cases: counts, log ends, offset reset, limit.

    ``names`` are the names of topic ids; ``monitored`` is the lag per group that a
    monitoring system reported; ``subscriptions`` are those that no source reports;
    ``history_end`` is the latest time of any record, in milliseconds.
    """

    counts: CountSources = field(default_factory=CountSources)
    names: Mapping[str, str] = field(default_factory=dict)
    logs: LogsFile = field(default_factory=LogsFile)
    monitored: LagOfGroups = field(default_factory=dict)
    subscriptions: GivenSubscriptions = field(default_factory=GivenSubscriptions)
    offset_reset: OffsetReset = OffsetReset.EARLIEST
    max_partitions: int = MAX_PARTITIONS
    history_end: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseInstance:
    """The rebalance of a case: a rebalance/1 text, which can still be invalid.

    ``partition_counts`` is one of `partition_counts.CERTAINTY`, and
    ``newer_partitions`` are those that the group's leader need not have known;
    ``lag_basis`` is None if no lag is known; ``lag_missing`` states the gaps in the lag
    that a monitoring system reported for the group.
    """

    text: str
    max_partitions: int
    partition_counts: str
    newer_partitions: int = 0
    lag_known: bool
    lag_basis: str | None
    lag_missing: str | None = None

    @property
    def document(self) -> Rebalance:
        """The validated rebalance.

        Raises
        ------
        DocumentError
            If the case contradicts itself, or is too large.
        """
        return parse_rebalance(self.text, max_partitions=self.max_partitions)
