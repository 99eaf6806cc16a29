"""The rebalance/1 document of a case.

Partition counts are those that the group itself recorded (Kafka 4.0, new protocol), or
given, or inferred from the largest partition number in assignments and commits of all
records; claims of members are not used for this. For describe text, only the rows of
the same group are used (`Case.least_sizes`). A topic that does not occur there is
omitted; a subscription to it contributes no partitions.

If log ends are given, which were read once at the end of the recording, the lag of a
partition is the number of records from the offset committed at the rebalance up to that
end. The lag at the time of the rebalance itself is not recorded. If nothing was
committed, ``auto.offset.reset`` determines where lag starts (`rebalance.lag`). Topics
without log ends have the lag that a monitoring system reported for the group, if any.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import orjson

from pipeline.cases import CLAIMS, PREVIOUS, Case, CaseMember, Held
from pipeline.sources.lag_metrics import LagOfGroups
from pipeline.sources.sidecars import Logs
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

COUNTS_GIVEN: Final = "given"
COUNTS_INFERRED: Final = "inferred"
COUNTS_RECORDED: Final = "recorded"

LAG_AT_END: Final = "end-of-recording"
LAG_MONITORED: Final = "monitored"
LAG_SNAPSHOT: Final = "snapshot"
LAG_GIVEN: Final = "given"


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What is known besides the cases: counts, log ends, offset reset, size limit.

    ``names`` are the names of topic ids; ``monitored`` is the lag per group that a
    monitoring system reported.
    """

    given: Mapping[str, int] = field(default_factory=dict)
    inferred: Mapping[str, int] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    logs: Logs | None = None
    monitored: LagOfGroups = field(default_factory=dict)
    offset_reset: OffsetReset = OffsetReset.EARLIEST
    max_partitions: int = MAX_PARTITIONS

    def partitions(self, topic: str, case: Case) -> int | None:
        """Return a topic's partition count for a case; None if unknown.

        A case with topic sizes of its own does not use those that others imply.
        """
        if topic in self.given or case.least_sizes is None:
            return self.given.get(topic, self.inferred.get(topic))
        return case.least_sizes.get(topic)


@dataclass(frozen=True, slots=True, kw_only=True)
class Posed:
    """The rebalance of a case: a rebalance/1 value, which can still be invalid.

    ``lag_basis`` is None if no lag is known.
    """

    plain: dict[str, Any]
    max_partitions: int
    partition_counts: str
    lag_known: bool
    lag_basis: str | None

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
    def text(self) -> str:
        """The rebalance as canonical JSON, as `rebalance.to_json` writes it."""
        members = {name: _sorted(one) for name, one in self.plain["members"].items()}
        whole = self.plain | {"members": members}
        return orjson.dumps(whole, option=orjson.OPT_SORT_KEYS).decode()


def pose(case: Case, world: World) -> Posed:
    """Convert a case to a rebalance.

    Raises
    ------
    DocumentError
        If the case's own document is invalid, or too large.
    """
    if case.document is not None:
        return _as_given(
            parse_rebalance(case.document, max_partitions=world.max_partitions), world
        )
    members = case.members or {}
    owned = {name: member.owned for name, member in members.items()}
    return _posed(case, members, owned, world)


def pose_before(case: Case, before: Mapping[str, Held], world: World) -> Posed:
    """Convert a case's members, with what they owned at the stable state before."""
    return _posed(case, case.members or {}, before, world, dated=False)


def _posed(
    case: Case,
    members: Mapping[str, CaseMember],
    owned: Mapping[str, Held],
    world: World,
    *,
    dated: bool = True,
) -> Posed:
    topics: dict[str, dict[str, Any]] = {}
    recorded = case.recorded_sizes or {}
    known, bases = True, set[str | None]()
    for topic in sorted(_topics_of(members)):
        count = recorded.get(topic, world.partitions(topic, case))
        if count is None:
            continue
        topics[topic] = {"partitions": count}
        lag, basis = _lag(case, topic, count, world)
        bases.add(basis)
        if lag is None:
            known = False
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
    return Posed(
        plain=document,
        max_partitions=world.max_partitions,
        partition_counts=_counts_from(topics, recorded, world),
        lag_known=known,
        lag_basis=_least_certain(bases) if known else None,
    )


def _least_certain(bases: set[str | None]) -> str | None:
    """Return the basis of the lag; of several, the one farthest from the rebalance."""
    return LAG_MONITORED if LAG_MONITORED in bases else next(iter(bases), None)


def _counts_from(
    topics: Mapping[str, Any], recorded: Mapping[str, int], world: World
) -> str:
    """Return where the counts are from; of several sources, the least certain."""
    if any(topic not in recorded and topic not in world.given for topic in topics):
        return COUNTS_INFERRED
    if any(topic in recorded for topic in topics):
        return COUNTS_RECORDED
    return COUNTS_GIVEN


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


def _lag(
    case: Case, topic: str, count: int, world: World
) -> tuple[list[int] | None, str | None]:
    """Return the lag of each partition, if known for all, and its basis."""
    if case.lag is not None:
        behind = dict(case.lag.get(topic, ()))
        if any(number not in behind for number in range(count)):
            return None, None
        return [behind[number] for number in range(count)], LAG_SNAPSHOT
    ends = {} if world.logs is None else world.logs.get(topic, {})
    if case.committed is None or any(number not in ends for number in range(count)):
        return _monitored_lag(case, topic, count, world)
    committed = dict(case.committed.get(topic, ()))
    starts = [committed.get(number, NOT_COMMITTED) for number in range(count)]
    log = np.array([ends[number] for number in range(count)], np.int64).reshape(-1, 2)
    lag = lag_of(np.array(starts, np.int64), log[:, 0], log[:, 1], world.offset_reset)
    return lag.tolist(), LAG_AT_END


def _monitored_lag(
    case: Case, topic: str, count: int, world: World
) -> tuple[list[int] | None, str | None]:
    reported = world.monitored.get(case.group_id, {}).get(topic, {})
    if any(number not in reported for number in range(count)):
        return None, None
    return [reported[number] for number in range(count)], LAG_MONITORED


def _as_given(document: Rebalance, world: World) -> Posed:
    topics = document.topics.values()
    known = bool(topics) and all(t.lag is not None for t in topics if t.partitions)
    return Posed(
        plain=plain_of(document),
        max_partitions=world.max_partitions,
        partition_counts=COUNTS_GIVEN,
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
