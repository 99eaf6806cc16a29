"""Groups of a real broker with our assignors in them, alone and among others.

Every generation that such a group went through is read back from the broker's log and
judged: the assignment is valid and balanced, nothing moved that need not, and the
claims that members sent are what they were given before.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import count

import pytest

import verify
from conformance.broker import Broker, running_broker
from oracle.plugins import (
    Choice,
    Joining,
    Mode,
    aiokafka,
    claim_of,
    kafka_python,
    rebalance_of,
    settings_of,
)
from pipeline.records import GroupMember, GroupMetadata
from rebalance import Assignment, Instance, Rebalance, instance_of, to_json
from rebalance.figures import figures_of
from rebalance.protocol import decode_assignment, decode_subscription
from solver.limits import Limits
from solver.policy import NAMED
from solver.solving import solve_policy
from tests.plugins.real import Member, Place

pytestmark = pytest.mark.slow

NUMBER = count()
TOPICS = {"t": 7, "u": 5}


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with running_broker(rack="r") as broker:
        broker_topics = Place(broker=broker, group="", topics=TOPICS)
        broker_topics.make_topics()
        yield broker


@pytest.fixture
def place(broker: Broker) -> Place:
    return Place(broker=broker, group=f"g{next(NUMBER)}", topics=TOPICS)


class Group(ExitStack):
    """Members of one place, all of which leave in the end."""

    def __init__(self, place: Place) -> None:
        super().__init__()
        self.place = place
        self.members: list[Member] = []

    def add(self, *members: Member) -> None:
        """Let them join, and wait until the group is at rest."""
        for one in members:
            self.callback(one.leave)
        self.members += members
        self.place.settled(*self.members)

    def remove(self, member: Member) -> int:
        """Let one leave; return how many partitions the others have lost by that."""
        member.leave()
        self.members.remove(member)
        before = [one.held for one in self.members]
        self.place.settled(*self.members)
        now = [one.held for one in self.members]
        return sum(len(had - has) for had, has in zip(before, now, strict=True))


def rebalance(one: GroupMetadata, mode: Mode) -> Rebalance:
    joined = [
        Joining(
            member_id=member.member_id,
            subscription=decode_subscription(member.subscription),
        )
        for member in one.members
    ]
    return rebalance_of(joined, TOPICS, mode=mode)


def given(one: GroupMetadata) -> dict[str, dict[str, list[int]]]:
    return {
        member.member_id: {
            topic: sorted(numbers)
            for topic, numbers in decode_assignment(member.assignment).partitions
        }
        for member in one.members
    }


def client_of(member: GroupMember) -> str:
    """Tell a client by what it calls itself unless told otherwise."""
    return member.client_id.split("-")[0]


def leader_of(one: GroupMetadata) -> str:
    (client,) = {client_of(m) for m in one.members if m.member_id == one.leader}
    return client


def judge(one: GroupMetadata, mode: Mode = Mode.EAGER) -> None:
    """Valid, balanced, and nothing moved that could have stayed.

    A leader that has just started may know no topic yet: then it gives nothing, and
    the group rebalances again as soon as it does. kafka-python is made so.
    """
    if not any(given(one).values()):
        return
    document = rebalance(one, mode)
    answer = {"format": "assignment/1", "members": given(one)}
    said = verify.judge(
        json.loads(to_json(document)), answer, cooperative=mode is Mode.COOPERATIVE
    )
    assert said["verdict"] == "valid", said
    if mode is Mode.EAGER:
        assert said["figures"]["dec_min_balanced"]
        assert said["figures"]["moves"] == fewest(document)


def fewest(document: Rebalance) -> int:
    instance = instance_of(document)
    best = solve_policy(instance, NAMED["sticky"]).assignment
    assert best is not None
    return int(figures_of(instance, best).moves or 0)


def claimed(generations: list[GroupMetadata], mode: Mode = Mode.EAGER) -> int:
    """Claims are what was given in the generation they name; count partitions.

    A member that was not told its assignment before the next rebalance began claims
    the one before. A cooperative member of librdkafka may still have, and then claims,
    what it was about to give up.
    """
    was = {one.generation: given(one) for one in generations}
    count_of = 0
    for one in generations:
        for member in one.members:
            claim = claim_of(decode_subscription(member.subscription), mode)
            if claim.generation >= 0:
                held = {topic: list(numbers) for topic, numbers in claim.partitions}
                told = was[claim.generation][member.member_id]
                if mode is Mode.EAGER or client_of(member) == "kafka":
                    assert held == {topic: ns for topic, ns in told.items() if ns}
                count_of += sum(map(len, held.values()))
    return count_of


@pytest.mark.parametrize("algorithm", ["oracle", "chain-sticky"])
@pytest.mark.parametrize("client", ["kafka", "aiokafka"])
def test_alone(place: Place, client: str, algorithm: str) -> None:
    def one() -> Member:
        if client == "kafka":
            return place.kafka_python(kafka_python.assignor(algorithm))
        return place.aiokafka(aiokafka.assignor(algorithm))

    with Group(place) as group:
        group.add(one())
        group.add(one(), one())
        assert group.remove(group.members[0]) == 0  # the leader
        group.add(one())
    generations = place.generations()
    for each in generations:
        assert each.protocol == algorithm
        judge(each)
    assert claimed(generations) >= 12 + 8 + 12
    assert len({one.leader for one in generations}) >= 2


def test_beside_java_sticky(place: Place) -> None:
    """Ours leads Java's member, then Java's leads ours; both believe the other."""
    ours = kafka_python.assignor("chain-sticky", name="sticky")
    with Group(place) as group:
        group.add(place.kafka_python(ours))
        group.add(place.java("sticky"))
        group.add(place.aiokafka(aiokafka.assignor("oracle", name="sticky")))
        assert group.remove(group.members[0]) == 0
        group.add(place.kafka_python(ours))
    generations = place.generations()
    for one in generations:
        assert one.protocol == "sticky"
        judge(one)
    assert claimed(generations) >= 12 + 12 + 8 + 12
    assert leader_of(generations[0]) == "kafka"


def test_java_leads(place: Place) -> None:
    with Group(place) as group:
        group.add(place.java("sticky", "range"))
        group.add(place.kafka_python(kafka_python.assignor("oracle", name="sticky")))
        group.add(place.aiokafka(aiokafka.assignor("chain-sticky", name="sticky")))
        assert group.remove(group.members[1]) == 0
    generations = place.generations()
    for one in generations:
        assert (one.protocol, leader_of(one)) == ("sticky", "consumer")
        judge(one)
    assert claimed(generations) >= 12 + 12 + 8


@pytest.mark.parametrize("protocol", ["range", "roundrobin"])
def test_beside_librdkafka(place: Place, protocol: str) -> None:
    ours = kafka_python.assignor("chain-sticky", name=protocol)
    with Group(place) as group:
        group.add(place.kafka_python(ours))
        group.add(place.librdkafka("roundrobin,range"))
        group.remove(group.members[0])
        group.add(place.kafka_python(ours))
    generations = place.generations()
    assert {one.protocol for one in generations} == {protocol, "roundrobin"}
    assert {leader_of(one) for one in generations} == {"kafka", "rdkafka"}
    for one in generations:
        if leader_of(one) == "kafka":
            judge(one)


@pytest.mark.parametrize("first", ["ours", "theirs"])
@pytest.mark.parametrize("other", ["java", "librdkafka"])
def test_cooperative(place: Place, other: str, first: str) -> None:
    def ours() -> Member:
        return place.kafka_python(
            kafka_python.assignor("oracle", name="cooperative-sticky")
        )

    def theirs() -> Member:
        is_java = other == "java"
        return (place.java if is_java else place.librdkafka)("cooperative-sticky")

    pair = [ours, theirs] if first == "ours" else [theirs, ours]
    with Group(place) as group:
        for start in (*pair, ours):
            group.add(start())
        assert group.remove(group.members[1]) == 0
    generations = place.generations()
    for one in generations:
        assert one.protocol == "cooperative-sticky"
        judge(one, Mode.COOPERATIVE)
    assert claimed(generations, Mode.COOPERATIVE) >= 12 + 12 + 12 + 8
    client = {"ours": "kafka", "java": "consumer", "librdkafka": "rdkafka"}
    assert leader_of(generations[0]) == client[first if first == "ours" else other]


def test_an_engine_that_fails_does_not_lose_the_group(place: Place) -> None:
    def fail(instance: Instance, limits: Limits) -> Assignment:
        raise RuntimeError

    class Failing(kafka_python.GroupAssignor):
        settings = settings_of("oracle", name="sticky")
        settings = replace(
            settings,
            leader=replace(settings.leader, choice=Choice(name="bad", assign=fail)),
        )

    with Group(place) as group:
        group.add(place.kafka_python(Failing))
        group.add(place.kafka_python(Failing))
    for one in place.generations():
        judge(one)
