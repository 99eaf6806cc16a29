"""A partition with two claims is assigned while a claimant may still read it

kafka-python 3.0.12, assignor cooperative-sticky: unrevoked.
rule unrevoked, member b, topic t, partition 0, claimant a.

Run it with

    pip install kafka-python==3.0.12 pytest
    PYTHONHASHSEED=0 python -m pytest test_unrevoked_double_claims.py
"""

from types import SimpleNamespace

import pytest
from kafka.coordinator.assignors.cooperative_sticky import (
    CooperativeStickyAssignor,
)
from kafka.protocol.consumer.metadata import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)

# The number of partitions of each topic; no other topic exists.
TOPICS = {"t": 1, "u": 1}
# The members by id; the first leads. An unknown generation is -1.
MEMBERS = {
    "a": {"generation": 2, "instance_id": None, "owned": {"t": [0], "u": [0]}, "topics": ["t", "u"]},
    "b": {"generation": 1, "instance_id": None, "owned": {"t": [0]}, "topics": ["t"]},
}


class Cluster:
    """What assignors read of the leader's metadata."""

    def topics(self):
        wanted = {t for member in MEMBERS.values() for t in member["topics"]}
        return {topic for topic in TOPICS if topic in wanted}

    def partitions_for_topic(self, topic):
        return set(range(TOPICS[topic])) if topic in self.topics() else None


def joined(member, one):
    """Return what the leader reads of a member, through the bytes that it sends."""
    own = CooperativeStickyAssignor()
    if one["owned"] is not None or one["generation"] >= 0:
        owned = sorted((one["owned"] or {}).items())
        own.on_assignment(ConsumerProtocolAssignment(0, owned, b""), one["generation"])
    sent = own.metadata(set(one["topics"])).encode()
    return SimpleNamespace(
        member_id=member,
        group_instance_id=one["instance_id"],
        metadata=ConsumerProtocolSubscription.decode(sent),
    )


def assign(members):
    """Do what the leader of the group does."""
    read = [joined(member, one) for member, one in members.items()]
    held = {}
    for member, given in CooperativeStickyAssignor().assign(Cluster(), read).items():
        for place in given.partitions():
            topics = held.setdefault(member, {})
            topics.setdefault(place.topic, []).append(place.partition)
    return held


def answer(members):
    """Let the leader assign."""
    held = assign(members)
    return {member: held.get(member, {}) for member in {**members, **held}}


def claims(members):
    """Return who claims each partition: the members with the newest claim."""
    newest, claimants = {}, {}
    for member, one in members.items():
        for topic, numbers in (one["owned"] or {}).items():
            for n in numbers:
                place, then = (topic, n), one["generation"]
                if topic not in one["topics"] or n >= TOPICS.get(topic, 0):
                    continue
                if then > newest.get(place, -2):
                    newest[place], claimants[place] = then, []
                if then == newest[place]:
                    claimants[place].append(member)
    return claimants


def violations(members, held):
    """Yield what is assigned to a member while another one holds it."""
    claimants = claims(members)
    for member, topics in sorted(held.items()):
        for topic, numbers in sorted(topics.items()):
            for n in numbers:
                for other in claimants.get((topic, n), ()):
                    if other != member:
                        yield f"{member} receives {topic}:{n} while {other} holds it"


def revokes(members, held):
    """Return whether a member has to give up what it holds, and joins again."""
    assigned = {(t, n) for given in held.values() for t, ns in given.items() for n in ns}
    return any(
        n < TOPICS.get(topic, 0)
        and n not in held[member].get(topic, ())
        and (topic in one["topics"] or (topic, n) not in assigned)
        for member, one in members.items()
        for topic, numbers in (one["owned"] or {}).items()
        for n in numbers
    )


def rejoined(members, held):
    """Return the members in the next round, with what they received as their claims."""
    generation = max(one["generation"] for one in members.values()) + 1
    return {
        member: one | {"owned": held[member], "generation": generation}
        for member, one in members.items()
    }


def test_unrevoked_double_claims():
    members = MEMBERS
    for _ in range(16):  # until nobody has to revoke anything (KIP-429)
        held = answer(members)
        for violation in violations(members, held):
            pytest.fail(f"finding: unrevoked: {violation}")
        if not revokes(members, held):
            break
        members = rejoined(members, held)
    else:
        pytest.fail("finding: restless: members still revoke after 16 rounds")
