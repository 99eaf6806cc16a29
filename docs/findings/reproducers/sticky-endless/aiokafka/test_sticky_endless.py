"""Rebalancing does not end when a partition goes back and forth between two members

aiokafka 0.14.0, assignor sticky: hang.
no answer in 10 s.

Run it with

    pip install aiokafka==0.14.0 pytest
    PYTHONHASHSEED=0 python -m pytest test_sticky_endless.py
"""

import threading

import pytest
from aiokafka.coordinator.assignors.sticky.sticky_assignor import (
    StickyPartitionAssignor,
)
from aiokafka.coordinator.protocol import ConsumerProtocol

# The number of partitions of each topic; no other topic exists.
TOPICS = {"t1": 3, "t2": 9}
# The members by id; the first leads. An unknown generation is -1.
MEMBERS = {
    "m1": {"generation": -1, "instance_id": None, "owned": None, "topics": ["t1", "t2"]},
    "m2": {"generation": -1, "instance_id": None, "owned": {"t1": [0]}, "topics": ["t1", "t2"]},
    "m3": {"generation": -1, "instance_id": None, "owned": {"t2": [0, 1, 2, 3, 4, 5, 6, 7, 8]}, "topics": ["t2"]},
    "m4": {"generation": -1, "instance_id": None, "owned": {"t1": [1, 2]}, "topics": ["t1"]},
}
SECONDS = 10


class Cluster:
    """What assignors read of the leader's metadata."""

    def topics(self):
        wanted = {t for member in MEMBERS.values() for t in member["topics"]}
        return {topic for topic in TOPICS if topic in wanted}

    def partitions_for_topic(self, topic):
        return set(range(TOPICS[topic])) if topic in self.topics() else None


def joined(one):
    """Return what the leader reads of a member, through the bytes that it sends."""
    StickyPartitionAssignor.member_assignment = None
    StickyPartitionAssignor.generation = -1
    if one["owned"] is not None or one["generation"] >= 0:
        last = ConsumerProtocol.ASSIGNMENT(
            StickyPartitionAssignor.version, sorted((one["owned"] or {}).items()), b""
        )
        StickyPartitionAssignor.on_assignment(last)
    sent = StickyPartitionAssignor.metadata(set(one["topics"]))
    return ConsumerProtocol.METADATA.decode(sent.encode())


def assign(members):
    """Do what the leader of the group does."""
    read = {member: joined(one) for member, one in members.items()}
    held = {}
    for member, given in StickyPartitionAssignor.assign(Cluster(), read).items():
        for topic, numbers in given.assignment:
            held.setdefault(member, {}).setdefault(topic, []).extend(numbers)
    return held


def answer(members):
    """Let the leader assign, in a thread that may never end."""
    answers = []
    thread = threading.Thread(
        target=lambda: answers.append(assign(members)), daemon=True
    )
    thread.start()
    thread.join(SECONDS)
    if thread.is_alive():
        pytest.fail(f"finding: hang: no answer within {SECONDS} s")
    (held,) = answers
    return {member: held.get(member, {}) for member in {**members, **held}}


def test_sticky_endless():
    answer(MEMBERS)
