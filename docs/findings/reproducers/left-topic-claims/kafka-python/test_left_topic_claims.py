"""An earlier claim on a topic that its member has left is honored, or raises an exception

kafka-python 3.0.12, assignor sticky: error.
KeyError: ('c', ()).

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
TOPICS = {"t": 2, "u": 1}
# The members by id; the first leads. An unknown generation is -1.
MEMBERS = {
    "a": {"generation": 2, "instance_id": None, "owned": {"t": [0, 1]}, "topics": ["t"]},
    "b": {"generation": 2, "instance_id": None, "owned": None, "topics": ["t"]},
    "c": {"generation": 1, "instance_id": None, "owned": {"t": [0]}, "topics": ["u"]},
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
    try:
        held = assign(members)
    except Exception as error:
        pytest.fail(f"finding: error: {type(error).__name__}: {error}")
    return {member: held.get(member, {}) for member in {**members, **held}}


def test_left_topic_claims():
    answer(MEMBERS)
