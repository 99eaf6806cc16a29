"""An earlier claim on a topic that its member has left is honored, or raises an exception

kafka-python 3.0.12, assignor sticky: invalid.
rule unsubscribed, member c, topic t, partition 0.

Run it with

    pip install kafka-python==3.0.12 pytest
    PYTHONHASHSEED=0 python -m pytest test_left_topic_claims.py
"""

from types import SimpleNamespace

import pytest
from kafka.coordinator.assignors.sticky.sticky_assignor import (
    StickyPartitionAssignor,
)
from kafka.protocol.consumer.metadata import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)

# The number of partitions of each topic; no other topic exists.
TOPICS = {"t": 4, "u": 2}
# The members by id; the first leads. An unknown generation is -1.
MEMBERS = {
    "a": {"generation": 5, "instance_id": None, "owned": {"t": [0, 1, 2, 3]}, "topics": ["t"]},
    "b": {"generation": 5, "instance_id": None, "owned": None, "topics": ["t"]},
    "c": {"generation": 4, "instance_id": None, "owned": {"t": [0]}, "topics": ["u"]},
    "d": {"generation": 5, "instance_id": None, "owned": None, "topics": ["u"]},
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
    own = StickyPartitionAssignor()
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
    for member, given in StickyPartitionAssignor().assign(Cluster(), read).items():
        for place in given.partitions():
            topics = held.setdefault(member, {})
            topics.setdefault(place.topic, []).append(place.partition)
    return held


def answer(members):
    """Let the leader assign."""
    held = assign(members)
    return {member: held.get(member, {}) for member in {**members, **held}}


def violations(members, held):
    """Yield what is wrong with an assignment."""
    seen = set()
    for member, topics in sorted(held.items()):
        for topic, numbers in sorted(topics.items()):
            for n in numbers:
                if member not in members:
                    yield f"{member} is not in the group"
                elif n >= TOPICS.get(topic, 0):
                    yield f"{member} receives {topic}:{n}, which does not exist"
                elif topic not in members[member]["topics"]:
                    yield f"{member} receives {topic}:{n}, but does not subscribe to it"
                elif (topic, n) in seen:
                    yield f"{topic}:{n} is assigned twice"
                seen.add((topic, n))
    for topic in sorted({t for one in members.values() for t in one["topics"]}):
        for n in range(TOPICS.get(topic, 0)):
            if (topic, n) not in seen:
                yield f"nobody receives {topic}:{n}"


def test_left_topic_claims():
    held = answer(MEMBERS)
    for violation in violations(MEMBERS, held):
        pytest.fail(f"finding: invalid: {violation}")
