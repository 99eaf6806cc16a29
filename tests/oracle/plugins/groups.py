"""Groups of real members, and the checks of each of their generations."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack

import verify
from oracle.plugins import Joining, Mode, claim_of, rebalance_of
from pipeline.records import GroupMember, GroupMetadata
from rebalance import Rebalance, figures_of, instance_of, to_json
from rebalance.protocol import decode_assignment, decode_subscription
from solver import NAMED, solve
from tests.oracle.plugins.real import Member, Place

TOPICS = {"t": 7, "u": 5}

Given = dict[str, dict[str, list[int]]]


class Group(ExitStack):
    """Members of one place, all of which leave in the end."""

    def __init__(self, place: Place) -> None:
        super().__init__()
        self.place = place
        self.members: list[Member] = []

    def add(self, *members: Member) -> None:
        """Let them join, and wait until the group is at rest."""
        for member in members:
            self.callback(member.leave)
        self.members += members
        self.place.settled(*self.members)

    def restart(self, at: int, start: Callable[[], Member]) -> None:
        """Start a static member anew: it and the others have what they had."""
        before = [member.held for member in self.members]
        self.members[at].leave()
        self.members[at] = again = start()
        self.callback(again.leave)
        self.place.settled(*self.members)
        assert [member.held for member in self.members] == before

    def remove(self, member: Member) -> int:
        """Let one leave; return how many partitions the others have lost by that."""
        member.leave()
        self.members.remove(member)
        before = [member.held for member in self.members]
        self.place.settled(*self.members)
        now = [member.held for member in self.members]
        return sum(len(had - has) for had, has in zip(before, now, strict=True))


def rebalance(metadata: GroupMetadata, mode: Mode) -> Rebalance:
    """Return what the leader had to answer."""
    joined = [
        Joining(
            member_id=member.member_id,
            subscription=decode_subscription(member.subscription),
            instance_id=member.group_instance_id,
        )
        for member in metadata.members
    ]
    return rebalance_of(joined, TOPICS, mode=mode)


def given(metadata: GroupMetadata) -> Given:
    """Return what each member got, by its id."""
    return {
        member.member_id: assigned(member.assignment) for member in metadata.members
    }


def assigned(data: bytes) -> dict[str, list[int]]:
    """Decode an assignment; librdkafka may write one topic in several entries."""
    numbers_of: dict[str, list[int]] = {}
    for topic, numbers in decode_assignment(data).partitions:
        numbers_of.setdefault(topic, []).extend(numbers)
    return {topic: sorted(numbers) for topic, numbers in numbers_of.items()}


def client_of(member: GroupMember) -> str:
    """Identify a client by its own name unless another is given."""
    return member.client_id.split("-")[0]


def leader_of(metadata: GroupMetadata) -> str:
    """Return the client of the leader."""
    (client,) = {
        client_of(m) for m in metadata.members if m.member_id == metadata.leader
    }
    return client


def judge(metadata: GroupMetadata, mode: Mode = Mode.EAGER) -> None:
    """Assert that answers are valid and balanced, without needless moves.

    A leader that has just started may know no topic yet: then it gives nothing, and
    the group rebalances again as soon as it does. kafka-python is made so.
    """
    if not any(given(metadata).values()):
        return
    document = rebalance(metadata, mode)
    answer = {"format": "assignment/1", "members": given(metadata)}
    said = verify.judge(
        json.loads(to_json(document)), answer, cooperative=mode is Mode.COOPERATIVE
    )
    assert said["verdict"] == "valid", said
    if mode is Mode.EAGER:
        assert said["figures"]["dec_min_balanced"]
        assert said["figures"]["moves"] == fewest(document)


def fewest(document: Rebalance) -> int:
    instance = instance_of(document)
    best = solve(instance, NAMED["sticky"]).assignment
    assert best is not None
    return int(figures_of(instance, best).moves or 0)


def claimed(generations: list[GroupMetadata], mode: Mode = Mode.EAGER) -> int:
    """Claims are what was given in the generation they name; count partitions.

    A member that was not told its assignment before the next rebalance began claims
    the one before; one of Java's that was never told any, nothing, and writes no user
    data. A cooperative member of librdkafka may still have, and then claims, what it
    was about to give up. Of a generation the last record counts: a static member that
    came back has another id in it.
    """
    was = {generation.generation: given(generation) for generation in generations}
    count_of = 0
    for generation in generations:
        for member in generation.members:
            said = decode_subscription(member.subscription)
            claim = claim_of(said, mode)
            if claim.generation >= 0 and (said.user_data or mode is Mode.COOPERATIVE):
                held = {topic: list(numbers) for topic, numbers in claim.partitions}
                assigned = was[claim.generation][member.member_id]
                if mode is Mode.EAGER or client_of(member) == "kafka":
                    assert held == {topic: ns for topic, ns in assigned.items() if ns}
                count_of += sum(map(len, held.values()))
    return count_of
