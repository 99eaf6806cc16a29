"""One rebalance in the form of the group protocol, and the leader's answer to it.

Each instance has topic names of its own, because clients cache partition counts: a new
name makes every client ask for its metadata. The names sort as the originals do by code
points. The consumer under test is the first of the instance's members.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import orjson

from conformance.clients.answer import Answer, Verdict, read_answer
from conformance.wire.dialects import Dialect, WrittenAs
from rebalance import Member, Rebalance, Topic, WireError
from rebalance.protocol import (
    UNKNOWN_GENERATION,
    Partitions,
    decode_assignment,
)

INT32_MAX: Final = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """A member as the leader sees it."""

    member_id: str
    instance_id: str | None
    metadata: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderExchange:
    """Data that the leader receives for one rebalance.

    Attributes
    ----------
    protocol : str
        The assignor's name in the group protocol.
    generation : int
        Generation of the group, above every claim's.
    leader : str
        Member id of the consumer under test.
    members : tuple of Joined
    topics : dict
        Existing topics by their names on the wire.
    needed : frozenset
        Topics with partitions that a member subscribes to, by names on the wire.
    originals : dict
        Names in the document by names on the wire, also of topics that do not exist.
    group : str
    """

    protocol: str
    generation: int
    leader: str
    members: tuple[Joined, ...]
    topics: dict[str, Topic]
    needed: frozenset[str]
    originals: dict[str, str]
    group: str

    def read(self, assignments: Iterable[tuple[str, bytes]]) -> Answer:
        """Read the leader's assignments; a member that is omitted receives nothing."""
        held: dict[str, dict[str, list[int]]] = {}
        for member_id, data in assignments:
            if member_id in held:
                return _invalid(f"member {member_id!r} is assigned twice")
            try:
                held[member_id] = self._partitions(data)
            except WireError as error:
                return _invalid(f"assignment of {member_id!r}: {error}")
        for member in self.members:
            held.setdefault(member.member_id, {})
        document = {
            "format": "assignment/1",
            "group": self.group,
            "assignor": self.protocol,
            "members": {member: held[member] for member in sorted(held)},
        }
        return read_answer(orjson.dumps(document))

    def _partitions(self, data: bytes) -> dict[str, list[int]]:
        if not data:
            return {}
        found: dict[str, list[int]] = {}
        for topic, numbers in decode_assignment(data).partitions:
            found.setdefault(self.originals.get(topic, topic), []).extend(numbers)
        return {topic: sorted(found[topic]) for topic in sorted(found) if found[topic]}


def newest_generation(rebalance: Rebalance) -> int:
    """Return the newest generation of a claim; -1 if none is known."""
    known = (member.generation for member in rebalance.members.values())
    return max((g for g in known if g is not None), default=UNKNOWN_GENERATION)


def exchange_of(
    rebalance: Rebalance, *, number: int, dialect: Dialect, written: WrittenAs
) -> LeaderExchange:
    """Render a rebalance with at least one member for the leader.

    Parameters
    ----------
    rebalance : Rebalance
    number : int
        Distinguishes the topic names of this instance from earlier ones.
    dialect : Dialect
    written : WrittenAs

    Raises
    ------
    WireError
        If the protocol cannot express the rebalance.
    """
    names = topic_names(rebalance, number)
    members = tuple(
        _joined(name, member, names, dialect, written)
        for name, member in sorted(rebalance.members.items())
    )
    newest = max(newest_generation(rebalance), 0)
    return LeaderExchange(
        protocol=written.protocol,
        generation=min(written.base + newest + 1, INT32_MAX),
        leader=members[0].member_id,
        members=members,
        topics={names[t]: topic for t, topic in rebalance.topics.items()},
        needed=frozenset(
            names[topic]
            for member in rebalance.members.values()
            for topic in member.subscription
            if topic in rebalance.topics and rebalance.topics[topic].partitions
        ),
        originals={name: topic for topic, name in names.items()},
        group=rebalance.group,
    )


def _joined(
    name: str,
    member: Member,
    names: dict[str, str],
    dialect: Dialect,
    written: WrittenAs,
) -> Joined:
    topics = tuple(names[topic] for topic in member.subscription)
    claims = _claims(member, names)
    metadata = dialect.subscription(member, topics, claims, written)
    return Joined(member_id=name, instance_id=member.instance_id, metadata=metadata)


def topic_names(rebalance: Rebalance, number: int) -> dict[str, str]:
    """Return the names on the wire by the names in the document."""
    names = enumerate(sorted(named_topics(rebalance)))
    return {topic: f"w{number}-{rank:06d}" for rank, topic in names}


def topics_of_leader(rebalance: Rebalance, number: int) -> list[str]:
    """Return the topics with partitions that the first member subscribes to."""
    names, topics = topic_names(rebalance, number), rebalance.topics
    wanted = rebalance.members[min(rebalance.members)].subscription
    return [names[t] for t in wanted if t in topics and topics[t].partitions]


def named_topics(rebalance: Rebalance) -> set[str]:
    """Return all topics that the rebalance names, also those that do not exist."""
    members = rebalance.members.values()
    return set(rebalance.topics).union(
        *(member.subscription for member in members),
        *(member.owned or {} for member in members),
    )


def _claims(member: Member, names: dict[str, str]) -> Partitions:
    owned = member.owned or {}
    return tuple((names[topic], tuple(owned[topic])) for topic in sorted(owned))


def _invalid(reason: str) -> Answer:
    return Answer(verdict=Verdict.INVALID, reason=reason)
