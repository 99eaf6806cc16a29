"""Our assignors in groups of a real broker, alone and with other clients.

Every generation is read from the broker's log and judged: the assignment is valid and
balanced, there are no needless moves, and members claim what they were assigned before.
"""

from __future__ import annotations

import pytest

from oracle.plugins import Mode
from tests.oracle.plugins.groups import Group, claimed, judge, leader_of
from tests.oracle.plugins.real import Member, Place

pytestmark = pytest.mark.heavy


@pytest.mark.parametrize("algorithm", ["oracle", "chain-sticky"])
@pytest.mark.parametrize("client", ["kafka_python", "aiokafka"])
def test_alone(place: Place, client: str, algorithm: str) -> None:
    def one() -> Member:
        return place.ours(client, algorithm)

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
    assert len({generation.leader for generation in generations}) >= 2


def test_beside_java_sticky(place: Place) -> None:
    """Ours leads Java's member, then Java's leads ours; both believe the other."""
    with Group(place) as group:
        group.add(place.ours("kafka_python", "chain-sticky", "sticky"))
        group.add(place.java("sticky"))
        group.add(place.ours("aiokafka", "oracle", "sticky"))
        assert group.remove(group.members[0]) == 0
        group.add(place.ours("kafka_python", "chain-sticky", "sticky"))
    generations = place.generations()
    for generation in generations:
        assert generation.protocol == "sticky"
        judge(generation)
    assert claimed(generations) >= 12 + 12 + 8 + 12
    assert leader_of(generations[0]) == "kafka"


def test_java_leads(place: Place) -> None:
    with Group(place) as group:
        group.add(place.java("sticky", "range"))
        group.add(place.ours("kafka_python", "oracle", "sticky"))
        group.add(place.ours("aiokafka", "chain-sticky", "sticky"))
        assert group.remove(group.members[1]) == 0
    generations = place.generations()
    for generation in generations:
        assert (generation.protocol, leader_of(generation)) == ("sticky", "consumer")
        judge(generation)
    assert claimed(generations) >= 12 + 12 + 8


@pytest.mark.parametrize("protocol", ["range", "roundrobin"])
def test_beside_librdkafka(place: Place, protocol: str) -> None:
    with Group(place) as group:
        group.add(place.ours("kafka_python", "chain-sticky", protocol))
        group.add(place.librdkafka("roundrobin", "range"))
        group.remove(group.members[0])
        group.add(place.ours("kafka_python", "chain-sticky", protocol))
    generations = place.generations()
    assert {generation.protocol for generation in generations} == {
        protocol,
        "roundrobin",
    }
    assert {leader_of(generation) for generation in generations} == {"kafka", "rdkafka"}
    for generation in generations:
        if leader_of(generation) == "kafka":
            judge(generation)


@pytest.mark.parametrize("first", ["ours", "theirs"])
@pytest.mark.parametrize("other", ["java", "librdkafka"])
def test_cooperative(place: Place, other: str, first: str) -> None:
    def ours() -> Member:
        return place.ours("kafka_python", "oracle", "cooperative-sticky")

    def theirs() -> Member:
        is_java = other == "java"
        return (place.java if is_java else place.librdkafka)("cooperative-sticky")

    pair = [ours, theirs] if first == "ours" else [theirs, ours]
    with Group(place) as group:
        for start in (*pair, ours):
            group.add(start())
        assert group.remove(group.members[1]) == 0
    generations = place.generations()
    for generation in generations:
        assert generation.protocol == "cooperative-sticky"
        judge(generation, Mode.COOPERATIVE)
    assert claimed(generations, Mode.COOPERATIVE) >= 12 + 12 + 12 + 8
    client = {"ours": "kafka", "java": "consumer", "librdkafka": "rdkafka"}
    assert leader_of(generations[0]) == client[first if first == "ours" else other]


def test_an_engine_that_fails_does_not_lose_the_group(place: Place) -> None:
    failing = {"import": "tests.oracle.plugins.failing:failing_assignor", "call": {}}
    with Group(place) as group:
        group.add(place.kafka_python(failing))
        group.add(place.kafka_python(failing))
    for generation in place.generations():
        judge(generation)
