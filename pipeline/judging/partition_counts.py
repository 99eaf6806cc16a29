"""Partition counts of a case, as of the moment of its rebalance.

Evidence in this order: the count that the group itself recorded (Kafka 4.0, new
protocol); a count with a time in ``topics.json``; the partitions that the records of
all groups show until then (`pipeline.known_counts`), which is a lower bound: not more
than the topic has at the end, because a topic that was not deleted never has fewer
partitions than before. A count in ``topics.json`` without a time holds at the end of
the history: if no fewer partitions were known at the rebalance, it holds there, too.

A leader computes the assignment from its own metadata, which can be older than the
newest partitions. Those that the assignment lacks are left out, and counted as `newer`.

For describe text, only the rows of the same group are used (`Case.least_sizes`). The
counts of a document are its own. `pipeline.judging.case_instances` computes all this.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from pipeline.known_counts import KnownCounts

GIVEN: Final = "given"
RECORDED: Final = "recorded"
LOWER_BOUND: Final = "lower-bound"
CERTAINTY: Final = (LOWER_BOUND, RECORDED, GIVEN)
"""Of several sources, the first is the least certain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountSources:
    """Facts of partition counts beyond the cases.

    ``at_end`` holds at the end of the history, ``dated`` from a time on; ``shown`` is
    the count that records show.
    """

    at_end: Mapping[str, int] = field(default_factory=dict)
    dated: KnownCounts = field(default_factory=KnownCounts)
    shown: KnownCounts = field(default_factory=KnownCounts)
