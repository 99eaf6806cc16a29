"""Static members (KIP-345) in groups of a real broker, with our assignors.

A member that returns with its instance id before its session times out keeps its
partitions without a rebalance: the broker writes the generation again, with another
member id.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from heuristics import ASSIGNORS
from oracle.plugins import Mode
from pipeline.records import GroupMetadata
from rebalance import Rebalance, instance_of, members_of
from tests.oracle.plugins.groups import (
    Given,
    Group,
    claimed,
    given,
    judge,
    leader_of,
    rebalance,
)
from tests.oracle.plugins.real import Member, Place

pytestmark = pytest.mark.heavy

ATTEMPTS = 5
"""Starts of a member, of which one has to take less than its session."""


def named(metadata: GroupMetadata) -> dict[str, bytes]:
    """Return what was given by what a member keeps when it starts anew."""
    return {m.group_instance_id or m.member_id: m.assignment for m in metadata.members}


def ids(metadata: GroupMetadata) -> dict[str | None, str]:
    return {m.group_instance_id: m.member_id for m in metadata.members}


def by_range(document: Rebalance) -> Given:
    instance = instance_of(document)
    held = members_of(instance, ASSIGNORS["range"].assign(instance))
    return {m: {t: list(ns) for t, ns in has.items()} for m, has in held.items()}


@pytest.mark.parametrize(
    ("client", "algorithm", "mode"),
    [
        ("kafka_python", "chain-sticky", Mode.EAGER),
        ("kafka_python", "oracle", Mode.COOPERATIVE),
        ("aiokafka", "oracle", Mode.EAGER),
    ],
)
def test_a_restart_is_no_rebalance(
    place: Place, client: str, algorithm: str, mode: Mode
) -> None:
    """Neither the leader's nor another's; the next rebalance finds all claims kept."""
    name = "sticky" if mode is Mode.EAGER else "cooperative-sticky"

    def start(instance_id: str | None = None) -> Member:
        return place.ours(client, algorithm, name, instance_id)

    with Group(place) as group:
        group.add(start("a"))
        group.add(start("b"), start())
        before = place.generations()
        group.restart(0, lambda: start("a"))
        group.restart(1, lambda: start("b"))
        restarted = place.generations()
        group.add(start("c"))
        after = place.generations()

    again = restarted[len(before) :]
    assert {record.generation for record in again} == {before[-1].generation}
    assert [named(record) for record in again] == [named(before[-1])] * 2
    old, new = ids(before[-1]), ids(again[-1])
    assert {name for name in old if old[name] != new[name]} == {"a", "b"}
    assert restarted[-1].leader == new["a"]

    joined = after[len(restarted) :]
    assert claimed([*restarted, joined[0]], mode) == claimed(restarted, mode) + 12
    claimed(after, mode)
    for record in (*before, *joined):
        judge(record, mode)


def returned_amid_a_rebalance(place: Place) -> list[GroupMetadata]:
    """Let b leave and c join, and b come back before the rebalance has ended."""

    def start(instance_id: str) -> Member:
        return place.ours("kafka_python", "chain-sticky", instance_id=instance_id)

    with Group(place) as group:
        group.add(start("a"))
        group.add(start("b"))
        group.members.pop().leave()
        joining = start("c")
        place.wait_for_rebalance()
        group.add(joining, start("b"))
        return place.generations()


def test_who_comes_back_amid_a_rebalance_claims_nothing(place: Place) -> None:
    """A new process knows no earlier assignment (docs/plugins.md)."""
    for number in range(ATTEMPTS):
        fresh = replace(place, group=f"{place.group}-{number}")
        generations = returned_amid_a_rebalance(fresh)
        if all(ids(generation).keys() != {"a", "c"} for generation in generations):
            break  # otherwise, the session of b has ended: this machine is slow

    (last,) = (generation for generation in generations if "c" in ids(generation))
    assert len(ids(last)) == 3
    assert claimed(generations) - claimed(generations[:-1]) == 6
    judge(last)


@pytest.mark.parametrize("first", ["ours", "theirs"])
def test_range_goes_by_instance_id(place: Place, first: str) -> None:
    """As KIP-345 has it, whoever leads; the dynamic member's id would come first."""

    def ours(instance_id: str | None = "z") -> Member:
        return place.ours("kafka_python", "range", instance_id=instance_id)

    def theirs() -> Member:
        return place.java("range", instance_id="y")

    pair = [ours, theirs] if first == "ours" else [theirs, ours]
    with Group(place) as group:
        for start in pair:
            group.add(start())
        group.add(ours(None))
        before = place.generations()
        group.restart(pair.index(theirs), theirs)
        generations = place.generations()

    for each in generations:
        assert leader_of(each) == {"ours": "kafka", "theirs": "consumer"}[first]
        assert given(each) == by_range(rebalance(each, Mode.EAGER))
    last = generations[-1]
    assert last.generation == before[-1].generation
    held = {m.group_instance_id: given(last)[m.member_id] for m in last.members}
    assert held == {
        "y": {"t": [0, 1, 2], "u": [0, 1]},
        "z": {"t": [3, 4], "u": [2, 3]},
        None: {"t": [5, 6], "u": [4]},
    }


def test_aiokafka_leads_by_member_id(place: Place) -> None:
    """A broker has a static member's id begin with its name, so they stay in order.

    But before a dynamic one they are not put, since the client does not tell who is
    static: so docs/plugins.md says.
    """

    def start(instance_id: str | None = None) -> Member:
        return place.ours("aiokafka", "range", instance_id=instance_id)

    with Group(place) as group:
        group.add(start("z"))
        group.add(start("y"))
        static = place.generations()
        group.add(start())
        mixed = place.generations()[len(static) :]

    for record in static:
        assert given(record) == by_range(rebalance(record, Mode.EAGER))
    for record in mixed:
        (dynamic,) = {
            m.member_id for m in record.members if m.group_instance_id is None
        }
        assert given(record)[dynamic] == {"t": [0, 1, 2], "u": [0, 1]}
