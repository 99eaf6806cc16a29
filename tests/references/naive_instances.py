"""Statement of the instance of one case, from its objects: the slow second version.

Reaches into ``pipeline.judging`` for the rules' words: `pipeline.judging.instances` and
`pipeline.judging.partition_counts` state them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson

from pipeline.cases import CLAIMS, PREVIOUS, Case, CaseMember, Held
from pipeline.judging.instances import (
    LAG_AT_END,
    LAG_MONITORED,
    LAG_SNAPSHOT,
    CaseInstance,
    ClusterFacts,
)
from pipeline.judging.partition_counts import (
    CERTAINTY,
    GIVEN,
    LOWER_BOUND,
    RECORDED,
    CountSources,
)
from pipeline.known_counts import Known
from pipeline.side_files.lag_metrics import named_partitions
from pipeline.sightings import MOST_PARTITIONS
from rebalance import NOT_COMMITTED, lag_of


def naive_instance_of_episode(
    case: Case, before: Mapping[str, Held], facts: ClusterFacts
) -> CaseInstance:
    """Convert a case's members, with what they owned at the stable state before."""
    return _stated_instance(case, case.members or {}, before, facts, dated=False)


def naive_instance(case: Case, facts: ClusterFacts) -> CaseInstance:
    """State the instance of a case of which the topics have names."""
    members = case.members or {}
    owned = {name: member.owned for name, member in members.items()}
    return _stated_instance(case, members, owned, facts)


def _stated_instance(
    case: Case,
    members: Mapping[str, CaseMember],
    owned: Mapping[str, Held],
    facts: ClusterFacts,
    *,
    dated: bool = True,
) -> CaseInstance:
    topics: dict[str, dict[str, Any]] = {}
    counts = partition_counts(sorted(_topics_of(members)), case, facts.counts)
    known, bases, missing = True, set[str | None](), list[str]()
    lags = _lags(case, counts.count, facts)
    for topic, count in counts.count.items():
        topics[topic] = {"partitions": count}
        lag, basis = lags[topic]
        bases.add(basis)
        if lag is None:
            known = False
            missing.append(_unreported(case, topic, count, facts))
        else:
            topics[topic]["lag"] = lag
    if not all("lag" in topic for topic in topics.values()):
        known = False
    stated = {
        name: _member(member, owned.get(name, {}), case.owned_from, dated=dated)
        for name, member in members.items()
    }
    known = known and bool(topics)
    return CaseInstance(
        text=_text(case, topics, stated),
        max_partitions=facts.max_partitions,
        partition_counts=counts.basis,
        newer_partitions=counts.newer,
        lag_known=known,
        lag_basis=_least_certain(bases) if known else None,
        lag_missing="; ".join(filter(None, missing)) or None,
    )


def _least_certain(bases: set[str | None]) -> str | None:
    """Return the basis of the lag; of several, the one farthest from the rebalance."""
    return LAG_MONITORED if LAG_MONITORED in bases else next(iter(bases), None)


def _topics_of(members: Mapping[str, CaseMember]) -> set[str]:
    """Return the topics that members subscribe to or have partitions of."""
    found: set[str] = set()
    for member in members.values():
        found.update(member.subscription, member.assigned or ())
    return found


def _member(
    member: CaseMember, owned: Held, owned_from: str, *, dated: bool
) -> dict[str, Any]:
    fields: dict[str, Any] = {"subscription": member.subscription}
    if owned:
        fields["owned"] = owned
    if dated and owned_from in (PREVIOUS, CLAIMS) and member.generation is not None:
        fields["generation"] = member.generation
    if member.rack is not None:
        fields["rack"] = member.rack
    if member.instance_id is not None:
        fields["instance_id"] = member.instance_id
    return fields


_Lag = tuple[list[int] | None, str | None]
"""Lag of each partition of a topic, if known for all, and its basis."""


def _lags(
    case: Case, counts: Mapping[str, int], facts: ClusterFacts
) -> dict[str, _Lag]:
    """Return the lag of each topic."""
    found: dict[str, _Lag] = {}
    at_end: dict[str, int] = {}
    log: list[tuple[int, int, int]] = []
    for topic, count in counts.items():
        if case.lag is not None:
            behind = dict(case.lag.get(topic, ()))
            is_known = all(number in behind for number in range(count))
            listed = [behind[number] for number in range(count)] if is_known else None
            found[topic] = (listed, LAG_SNAPSHOT if is_known else None)
        elif (since := _since_commit(case, topic, count, facts)) is not None:
            at_end[topic] = count
            log += since
        else:
            found[topic] = _monitored_lag(case, topic, count, facts)
    if at_end:  # one call for all topics: most are small
        start, first, end = np.array(log, np.int64).reshape(-1, 3).T
        lag = lag_of(start, first, end, facts.offset_reset).tolist()
        for topic, count in at_end.items():
            found[topic], lag = (lag[:count], LAG_AT_END), lag[count:]
    return found


def _since_commit(
    case: Case, topic: str, count: int, facts: ClusterFacts
) -> list[tuple[int, int, int]] | None:
    """Return each partition's committed offset, log start, and log end.

    None if an end is not known, or is before what was committed.
    """
    ends = _log_ends(case, topic, facts)
    if case.committed is None or len(ends) < count:
        return None
    committed = dict(case.committed.get(topic, ()))
    found = []
    for number in range(count):
        if number not in ends:
            return None
        first, end = ends[number]
        start = committed.get(number, NOT_COMMITTED)
        if start > end:
            return None
        found.append((start, first, end))
    return found


def _log_ends(
    case: Case, topic: str, facts: ClusterFacts
) -> Mapping[int, tuple[int, int]]:
    """Return the log ends of a topic; empty if they are those of another log."""
    if case.at is not None:
        is_older = facts.logs.at is not None and facts.logs.at < case.at
        if is_older or facts.counts.shown.was_deleted_after(topic, case.at):
            return {}
    return facts.logs.ends.get(topic, {})


def _monitored_lag(
    case: Case, topic: str, count: int, facts: ClusterFacts
) -> tuple[list[int] | None, str | None]:
    reported = facts.monitored.get(case.group_id, {}).get(topic, {})
    if any(number not in reported for number in range(count)):
        return None, None
    return [reported[number] for number in range(count)], LAG_MONITORED


def _unreported(case: Case, topic: str, count: int, facts: ClusterFacts) -> str:
    """Return the partitions that the lag reported for a group lacks; "" if none is."""
    if case.group_id not in facts.monitored:
        return ""
    reported = facts.monitored[case.group_id].get(topic, {})
    numbers = [number for number in range(count) if number not in reported]
    return named_partitions(topic, numbers, len(numbers))


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionCounts:
    """Counts of the topics of which partitions are known.

    ``basis`` is the least certain one of all topics, also of those that are not known;
    ``newer`` are partitions that the group's leader need not have known.
    """

    count: dict[str, int]
    basis: str
    newer: int = 0


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
    """Return what records show, but not more than the topic has at the end.

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


def _text(
    case: Case, topics: Mapping[str, Any], members: Mapping[str, Mapping[str, Any]]
) -> str:
    """Return the rebalance as canonical JSON, as `rebalance.to_json` writes it."""
    document = {
        "format": "rebalance/1",
        "group": case.group_id,
        "id": case.rebalance_id,
        "topics": topics,
        "members": {name: _sorted(member) for name, member in members.items()},
    }
    return orjson.dumps(document, option=orjson.OPT_SORT_KEYS).decode()


def _sorted(member: Mapping[str, Any]) -> dict[str, Any]:
    """Return a member with sorted subscription and claims."""
    listed = {**member, "subscription": sorted(member["subscription"])}
    if "owned" in member:
        owned = member["owned"].items()
        listed["owned"] = {topic: sorted(numbers) for topic, numbers in owned}
    return listed
