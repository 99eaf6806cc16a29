"""Partition counts of a case, as of the moment of its rebalance.

Evidence in this order: the count that the group itself recorded (Kafka 4.0, new
protocol); a count with a time in ``topics.json``; the partitions that the records of
all groups show until then (`pipeline.known_counts`), which is a lower bound. A count in
``topics.json`` without a time holds at the end of the history: if no fewer partitions
were known at the rebalance, it holds there, too.

A leader computes the assignment from its own metadata, which can be older than the
newest partitions. Those that the assignment lacks are left out, and counted as `newer`.

For describe text, only the rows of the same group are used (`Case.least_sizes`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from pipeline.cases import Case, CaseMember
from pipeline.known_counts import Known, KnownCounts
from pipeline.sightings import MOST_PARTITIONS

GIVEN: Final = "given"
RECORDED: Final = "recorded"
LOWER_BOUND: Final = "lower-bound"
CERTAINTY: Final = (LOWER_BOUND, RECORDED, GIVEN)
"""Of several sources, the first is the least certain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionCounts:
    """Counts of the topics of which partitions are known.

    ``basis`` is the least certain one of all topics, also of those that are not known;
    ``newer`` are partitions that the group's leader need not have known.
    """

    count: dict[str, int]
    basis: str
    newer: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CountSources:
    """Facts of partition counts beyond the cases.

    ``at_end`` holds at the end of the history, ``dated`` from a time on; ``shown`` is
    the count that records show.
    """

    at_end: Mapping[str, int] = field(default_factory=dict)
    dated: KnownCounts = field(default_factory=KnownCounts)
    shown: KnownCounts = field(default_factory=KnownCounts)


@dataclass(frozen=True, slots=True)
class _Count:
    partitions: int | None
    basis: str
    newer: int = 0


def partition_counts(
    topics: Iterable[str], case: Case, sources: CountSources
) -> PartitionCounts:
    """Return the counts of topics of a case, in the order of ``topics``."""
    assigned = _assigned(case.members or {})
    counts = {
        topic: _count(topic, case, assigned.get(topic, 0), sources) for topic in topics
    }
    bases = {count.basis for count in counts.values()}
    return PartitionCounts(
        count={
            topic: count.partitions
            for topic, count in counts.items()
            if count.partitions is not None
        },
        basis=min(bases, key=CERTAINTY.index, default=GIVEN),
        newer=sum(count.newer for count in counts.values()),
    )


def _count(topic: str, case: Case, assigned: int, sources: CountSources) -> _Count:
    if case.recorded_sizes is not None and topic in case.recorded_sizes:
        return _Count(case.recorded_sizes[topic], RECORDED)
    if case.least_sizes is not None:
        if topic in sources.at_end:
            return _Count(sources.at_end[topic], GIVEN)
        return _Count(case.least_sizes.get(topic), LOWER_BOUND)
    at = case.at if case.state_at is None else case.state_at
    given = sources.dated.at(topic, at)
    if given is not None:
        count = min(given.most, max(given.settled, assigned))
        return _Count(count, GIVEN, given.most - count)
    shown = _shown(topic, at, sources)
    undated = (case.undated_sizes or {}).get(topic, 0)
    count = max(assigned, shown.settled, undated)
    newer = max(0, shown.most - count)
    if sources.at_end.get(topic) == count and not newer:
        return _Count(count, GIVEN)
    return _Count(count or None, LOWER_BOUND, newer)


def _shown(topic: str, at: int | None, sources: CountSources) -> Known:
    """Return the count that records show, but not more than the topic has at the end.

    Without a deletion, a topic never has fewer partitions than before: records that
    show more are of an assignment of partitions that do not exist, or of a topic that
    was deleted without a trace. Neither counts against other groups.
    """
    shown = sources.shown.at(topic, at) or Known(most=0, settled=0)
    end = sources.at_end.get(topic)
    if end is None or at is None or sources.shown.was_deleted_after(topic, at):
        return shown
    return Known(most=min(shown.most, end), settled=min(shown.settled, end))


def _assigned(members: Mapping[str, CaseMember]) -> dict[str, int]:
    """Return the least count of each topic that the assignment itself shows."""
    least: dict[str, int] = {}
    for member in members.values():
        for topic, numbers in (member.assigned or {}).items():
            count = max(numbers) + 1
            if count <= MOST_PARTITIONS:
                least[topic] = max(least.get(topic, 0), count)
    return least
