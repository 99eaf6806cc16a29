"""From a case to the rebalance/1 document that is judged.

Partition counts are given, or inferred as the largest number seen in assignments and
commits of the whole source; what members merely claim is not believed for this. A topic
of which nothing was seen is left out: a subscription to it brings nothing.

Lag of a partition, when log ends are given (they were read once, when the recording
ended): records from the offset committed at the rebalance up to that end. It is the
work then ahead, not the lag of that moment, which no record tells. Nothing committed
counts from the earliest offset, as ``auto.offset.reset=earliest`` does (KIP-169).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pipeline.cases import CLAIMS, PREVIOUS, Case, CaseMember, Held
from pipeline.sources.sidecars import Logs
from rebalance.documents import Rebalance, parse_rebalance, rebalance_of

COUNTS_GIVEN: Final = "given"
COUNTS_INFERRED: Final = "inferred"

LAG_AT_END: Final = "end-of-recording"
LAG_SNAPSHOT: Final = "snapshot"
LAG_GIVEN: Final = "given"


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What is known beside the cases: partition counts and log ends."""

    given: Mapping[str, int] = field(default_factory=dict)
    inferred: Mapping[str, int] = field(default_factory=dict)
    logs: Logs | None = None

    def partitions(self, topic: str) -> int | None:
        """Return a topic's partition count; None if nothing is known of it."""
        return self.given.get(topic, self.inferred.get(topic))


@dataclass(frozen=True, slots=True, kw_only=True)
class Posed:
    """A case posed as a problem; ``lag_basis`` is None when no lag is known."""

    document: Rebalance
    partition_counts: str
    lag_known: bool
    lag_basis: str | None


def pose(case: Case, world: World) -> Posed:
    """Write a case as a document.

    Raises
    ------
    DocumentError
        If the case contradicts itself, or is too large.
    """
    if case.document is not None:
        return _as_given(parse_rebalance(case.document))
    members = case.members or {}
    owned = {name: member.owned for name, member in members.items()}
    return _posed(case, members, owned, world)


def pose_before(case: Case, before: Mapping[str, Held], world: World) -> Posed:
    """Write a case's last members with what they owned at the rest before."""
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
    known, basis = True, None
    for topic in sorted(_topics_of(members)):
        count = world.partitions(topic)
        if count is None:
            continue
        topics[topic] = {"partitions": count}
        lag, basis = _lag(case, topic, count, world.logs)
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
    given = all(topic in world.given for topic in topics)
    known = known and bool(topics)
    return Posed(
        document=rebalance_of(document),
        partition_counts=COUNTS_GIVEN if given else COUNTS_INFERRED,
        lag_known=known,
        lag_basis=basis if known else None,
    )


def _topics_of(members: Mapping[str, CaseMember]) -> set[str]:
    """Return the topics that somebody wants, or was given nonetheless."""
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
    case: Case, topic: str, count: int, logs: Logs | None
) -> tuple[list[int] | None, str | None]:
    """Return the lag of each partition, if it is known of all, and what it means."""
    if case.lag is not None:
        behind = dict(case.lag.get(topic, ()))
        if any(number not in behind for number in range(count)):
            return None, None
        return [behind[number] for number in range(count)], LAG_SNAPSHOT
    if case.committed is None or logs is None or topic not in logs:
        return None, None
    ends = logs[topic]
    if any(number not in ends for number in range(count)):
        return None, None
    committed = dict(case.committed.get(topic, ()))
    lag = []
    for number in range(count):
        earliest, latest = ends[number]
        start = max(committed.get(number, earliest), earliest)
        lag.append(max(0, latest - start))
    return lag, LAG_AT_END


def _as_given(document: Rebalance) -> Posed:
    topics = document.topics.values()
    known = bool(topics) and all(t.lag is not None for t in topics if t.partitions)
    return Posed(
        document=document,
        partition_counts=COUNTS_GIVEN,
        lag_known=known,
        lag_basis=LAG_GIVEN if known else None,
    )
