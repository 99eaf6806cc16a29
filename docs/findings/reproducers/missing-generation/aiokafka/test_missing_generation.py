"""Claims carry no generation, so an older claim can win against a newer one

aiokafka 0.14.0, assignor sticky: needless-moves.
1 move more than the optimum needs.

Run it with

    pip install aiokafka==0.14.0 pytest
    PYTHONHASHSEED=0 python -m pytest test_missing_generation.py
"""

import pytest
from aiokafka.coordinator.assignors.sticky.sticky_assignor import (
    StickyPartitionAssignor,
)
from aiokafka.coordinator.protocol import ConsumerProtocol

# The number of partitions of each topic; no other topic exists.
TOPICS = {"t": 1}
# The members by id; the first leads. An unknown generation is -1.
MEMBERS = {
    "a": {"generation": 1, "instance_id": None, "owned": {"t": [0]}, "topics": ["t"]},
    "b": {"generation": 2, "instance_id": None, "owned": {"t": [0]}, "topics": ["t"]},
}
# Who owns what, by the newest claims.
OWNERS = {"b": {"t": [0]}}
# The loads of the most balanced assignment, largest first.
LOADS = [1, 0]
# The fewest moves of an assignment with these loads.
MOVES = 0


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
    """Let the leader assign."""
    held = assign(members)
    return {member: held.get(member, {}) for member in {**members, **held}}


def test_missing_generation():
    held = answer(MEMBERS)
    loads = {member: sum(map(len, topics.values())) for member, topics in held.items()}
    found = sorted(loads.values(), reverse=True)
    if found != LOADS:
        pytest.fail(f"finding: unbalanced: loads {found}, possible are {LOADS}")
    moves = sum(
        n not in held[member].get(topic, ())
        for member, topics in OWNERS.items()
        for topic, numbers in topics.items()
        for n in numbers
    )
    if moves > MOVES:
        pytest.fail(f"finding: needless-moves: {moves} moves, {MOVES} are enough")
