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
any.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import orjson

from pipeline.cases import CLAIMS, PREVIOUS, Case, CaseMember, Held
from pipeline.judging.partition_counts import GIVEN as GIVEN_COUNTS
from pipeline.judging.partition_counts import CountSources, partition_counts
from pipeline.sources.given_subscriptions import GivenSubscriptions
from pipeline.sources.lag_metrics import LagOfGroups, named_partitions
from pipeline.sources.sidecars import LogsFile
from rebalance import (
    MAX_PARTITIONS,
    NOT_COMMITTED,
    OffsetReset,
    Rebalance,
    lag_of,
    parse_rebalance,
    plain_of,
    rebalance_of,
)

LAG_AT_END: Final = "end-of-recording"
LAG_MONITORED: Final = "monitored"
LAG_SNAPSHOT: Final = "snapshot"
LAG_GIVEN: Final = "given"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFacts:
    """Facts of the cluster beyond its cases: counts, log ends, offset reset, limit.

    ``names`` are the names of topic ids; ``monitored`` is the lag per group that a
    monitoring system reported; ``subscriptions`` are those that no source reports.
    """

    counts: CountSources = field(default_factory=CountSources)
    names: Mapping[str, str] = field(default_factory=dict)
    logs: LogsFile = field(default_factory=LogsFile)
    monitored: LagOfGroups = field(default_factory=dict)
    subscriptions: GivenSubscriptions = field(default_factory=GivenSubscriptions)
    offset_reset: OffsetReset = OffsetReset.EARLIEST
    max_partitions: int = MAX_PARTITIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseInstance:
    """The rebalance of a case: a rebalance/1 value, which can still be invalid.

    ``partition_counts`` and ``newer_partitions`` are as in `PartitionCounts`;
    ``lag_basis`` is None if no lag is known; ``lag_missing`` states the gaps in the lag
    that a monitoring system reported for the group.
    """

    plain: dict[str, Any]
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
        return rebalance_of(self.plain, max_partitions=self.max_partitions)

    @property
    def canonical(self) -> dict[str, Any]:
        """The rebalance as the judge reads it: subscriptions and claims sorted."""
        members = {
            name: _sorted(member) for name, member in self.plain["members"].items()
        }
        return self.plain | {"members": members}

    @property
    def text(self) -> str:
        """The rebalance as canonical JSON, as `rebalance.to_json` writes it."""
        return orjson.dumps(self.canonical, option=orjson.OPT_SORT_KEYS).decode()


def instance_of_case(case: Case, facts: ClusterFacts) -> CaseInstance:
    """Convert a case to a rebalance.

    Raises
    ------
    DocumentError
        If the case's own document is invalid, or too large.
    """
    if case.document is not None:
        return _as_given(
            parse_rebalance(case.document, max_partitions=facts.max_partitions), facts
        )
    members = case.members or {}
    owned = {name: member.owned for name, member in members.items()}
    return _stated_instance(case, members, owned, facts)


def instance_of_episode(
    case: Case, before: Mapping[str, Held], facts: ClusterFacts
) -> CaseInstance:
    """Convert a case's members, with their partitions at the stable state before."""
    return _stated_instance(case, case.members or {}, before, facts, dated=False)


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
    document = {
        "format": "rebalance/1",
        "group": case.group_id,
        "id": case.rebalance_id,
        "topics": topics,
        "members": {
            name: _member(member, owned.get(name, {}), case.owned_from, dated=dated)
            for name, member in members.items()
        },
    }
    known = known and bool(topics)
    return CaseInstance(
        plain=document,
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

    None if an end is not known, or is before the committed offset.
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


def _as_given(document: Rebalance, facts: ClusterFacts) -> CaseInstance:
    topics = document.topics.values()
    known = bool(topics) and all(t.lag is not None for t in topics if t.partitions)
    return CaseInstance(
        plain=plain_of(document),
        max_partitions=facts.max_partitions,
        partition_counts=GIVEN_COUNTS,
        lag_known=known,
        lag_basis=LAG_GIVEN if known else None,
    )


def _sorted(member: Mapping[str, Any]) -> dict[str, Any]:
    """Return a member with sorted subscription and claims."""
    listed = {**member, "subscription": sorted(member["subscription"])}
    if "owned" in member:
        owned = member["owned"].items()
        listed["owned"] = {topic: sorted(numbers) for topic, numbers in owned}
    return listed
