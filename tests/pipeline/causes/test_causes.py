"""Causes of rebalances: pinned for each kind, and drawn ones against loops over rows.

Reaches into `pipeline.causes` to compute the causes of tables that are made here.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given

from pipeline.causes import KINDS, MOST_NAMES, causes_of_tables
from tests.pipeline.causes.drawn_groups import Group, drawn_group, tables_of
from tests.references.naive_causes import ORDER, naive_causes
from tests.support.strategies import generators

Cause = tuple[str, int, list[str], list[str]]


def causes(*groups: Group) -> list[list[Cause]]:
    """Return the causes of the rebalances of groups."""
    found = causes_of_tables(*tables_of(*groups)).to_pylist()
    return [[(*entry.values(),) for entry in entries] for entries in found]


def last(group: Group) -> list[Cause]:
    return causes(group)[-1]


def pair() -> Group:
    """Return a group of two members that has rebalanced once."""
    group = Group()
    group.add("a", client_id="one")
    group.add("b", client_id="two")
    group.leader = "a"
    group.rebalance()
    return group


@given(generators())
def test_drawn_causes_are_those_of_loops_over_rows(rng: Random) -> None:
    groups = [drawn_group(rng, f"g{n}", rng.choice((3, 9, 30))) for n in range(2)]
    rebalances, members = tables_of(*groups)
    every = naive_causes(rebalances.to_pylist(), members.to_pylist())
    wanted = [every[name] for name in rebalances["rebalance_id"].to_pylist()]
    assert causes_of_tables(rebalances, members).to_pylist() == wanted


def test_the_order_of_rows_does_not_matter() -> None:
    rng = Random(5)  # noqa: S311
    groups = [drawn_group(rng, f"g{number}", 40) for number in range(4)]
    rebalances, members = tables_of(*groups)
    found = causes_of_tables(rebalances, members).to_pylist()
    places = rng.sample(range(len(rebalances)), len(rebalances))
    mixed = members.take(rng.sample(range(len(members)), len(members)))
    others = causes_of_tables(rebalances.take(places), mixed).to_pylist()
    assert others == [found[place] for place in places]


def test_drawn_groups_have_every_kind() -> None:
    rng = Random(1)  # noqa: S311
    groups = [drawn_group(rng, f"g{number}", 60) for number in range(30)]
    found = {entry[0] for entries in causes(*groups) for entry in entries}
    assert found == set(KINDS)
    assert KINDS == ORDER


def test_the_first_rebalance_started_the_group() -> None:
    assert last(pair()) == [("started", 2, ["a", "b"], [])]


def test_a_first_generation_after_nothing_known_started_the_group() -> None:
    group = Group(before=None)
    group.add("a")
    group.rebalance()
    assert last(group) == [("started", 1, ["a"], [])]


def test_a_group_that_was_empty_has_started() -> None:
    group = pair()
    group.empty(100)
    group.add("c", client_id="three")
    group.rebalance(100)
    assert last(group) == [("started", 1, ["c"], [])]


def test_members_joined_and_left() -> None:
    group = pair()
    group.remove("b")
    group.add("c", client_id="three")
    group.rebalance()
    assert last(group) == [("joined", 1, ["c"], []), ("left", 1, ["b"], [])]


@pytest.mark.parametrize(
    ("seconds", "left", "came"),
    [(60, "left-briefly", "returned"), (60.001, "left", "joined")],
)
def test_a_client_returns_within_a_minute(seconds: float, left: str, came: str) -> None:
    group = pair()
    group.remove("b")
    group.rebalance()
    group.add("b2", client_id="two")
    group.rebalance(seconds)
    assert causes(group)[1:] == [[(left, 1, ["b"], [])], [(came, 1, ["b2"], [])]]


@pytest.mark.parametrize(
    "other",
    [{"client_id": "three"}, {"client_id": "two", "client_host": "/10.0.0.9"}],
)
def test_a_member_of_another_client_or_host_has_not_returned(other: Any) -> None:
    group = pair()
    group.remove("b")
    group.rebalance()
    group.add("b2", **other)
    group.rebalance()
    assert last(group) == [("joined", 1, ["b2"], [])]


def test_a_client_that_returns_in_the_rebalance_that_it_left_in() -> None:
    group = pair()
    group.remove("b")
    group.add("b2", client_id="two")
    group.rebalance(900)
    assert last(group) == [("returned", 1, ["b2"], [])]


def test_members_with_one_client_id_are_counted() -> None:
    group = Group()
    group.add("a", "b", "c")
    group.rebalance()
    group.remove("a", "b")
    group.rebalance()
    group.add("d")
    group.rebalance()
    group.add("e", "f")
    group.rebalance()
    assert causes(group)[1:] == [
        [("left-briefly", 2, ["a", "b"], [])],
        [("returned", 1, ["d"], [])],
        [("returned", 1, ["e"], []), ("joined", 1, ["f"], [])],
    ]


@pytest.mark.parametrize(
    ("seconds", "kinds"), [(60, ["started", "returned"]), (60.001, ["started"])]
)
def test_a_member_of_a_group_that_was_empty_returns(
    seconds: float, kinds: list[str]
) -> None:
    group = pair()
    group.empty(900)
    group.add("b2", client_id="two")
    group.rebalance(seconds)
    assert [cause[0] for cause in last(group)] == kinds
    assert {tuple(cause[2]) for cause in last(group)} == {("b2",)}


def test_a_leave_in_a_gap_counts_from_the_last_rebalance_with_the_member() -> None:
    group = pair()
    group.remove("b")
    group.miss(20)
    group.rebalance(20)
    group.add("b2", client_id="two")
    group.rebalance(20)
    assert last(group) == [("returned", 1, ["b2"], [])]
    group.remove("b2")
    group.miss(20)
    group.rebalance(20)
    group.add("b3", client_id="two")
    group.rebalance(20.001)
    assert last(group) == [("joined", 1, ["b3"], [])]


def test_without_a_client_id_no_member_returns() -> None:
    group = Group()
    group.add("a", "b", client_id=None)
    group.rebalance()
    group.remove("b")
    group.rebalance()
    group.add("c", client_id=None)
    group.rebalance()
    assert last(group) == [("joined", 1, ["c"], [])]


def test_a_static_member_returns_under_another_id_and_from_another_host() -> None:
    group = pair()
    group.add("i-1", instance_id="i")
    group.rebalance()
    group.remove("i-1")
    group.rebalance()
    group.add("i-2", instance_id="i", client_host="/10.0.0.9")
    group.rebalance()
    assert causes(group)[2:] == [
        [("left-briefly", 1, ["i-1"], [])],
        [("returned", 1, ["i-2"], [])],
    ]


def test_a_static_member_that_was_replaced_is_the_cause_of_nothing_else() -> None:
    group = Group()
    group.add("i-1", instance_id="i")
    group.rebalance()
    group.remove("i-1")
    group.add("i-2", instance_id="i")
    group.rebalance()
    group.remove("i-2")
    group.add("i-3", instance_id="i")
    group.add("b", client_id="two")
    group.rebalance()
    assert causes(group)[1:] == [
        [("replaced", 1, ["i-2"], [])],
        [("joined", 1, ["b"], [])],
    ]


def test_a_subscription_changed() -> None:
    group = pair()
    group.people["b"].topics = ("u",)
    group.rebalance()
    assert last(group) == [("resubscribed", 1, ["b"], ["t", "u"])]


def grown(counts: tuple[int, int], assigned: tuple[int, int]) -> list[Cause]:
    """Return the causes where counts of a topic, and what is assigned, change."""
    group = Group()
    group.add("a")
    for count, most in zip(counts, assigned, strict=True):
        group.people["a"].assigned = {"t": [*range(most)]} if most else {}
        group.rebalance(partitions=count)
    return last(group)


def test_partitions_were_added() -> None:
    assert grown((3, 5), (3, 5)) == [("partitions-added", 1, [], ["t"])]


@pytest.mark.parametrize(
    ("counts", "assigned"),
    [
        ((5, 5), (3, 5)),  # known to exist, and left out before
        ((3, 5), (3, 3)),  # known to the audit, and not assigned
        ((3, 3), (3, 2)),
    ],
)
def test_that_more_is_known_is_not_growth(
    counts: tuple[int, int], assigned: tuple[int, int]
) -> None:
    assert grown(counts, assigned) == [("restless", 1, [], [])]


def test_partitions_that_were_owned_are_not_new() -> None:
    group = Group()
    group.add("a")
    group.people["a"].owned = {"t": [7]}
    group.people["a"].assigned = {"t": [0]}
    group.rebalance(partitions=3)
    group.people["a"].assigned = {"t": [0, 7]}
    group.rebalance(partitions=8)
    assert last(group) == [("restless", 1, [], [])]


def test_a_topic_that_was_left_out_appeared() -> None:
    assert grown((3, 3), (0, 3)) == [("topics-appeared", 1, [], ["t"])]


def test_a_topic_that_a_round_withholds_has_not_appeared() -> None:
    group = Group(assignor="cooperative-sticky")
    group.add("a")
    group.people["a"].owned = {"t": [0]}
    group.rebalance(cooperative=True)
    group.people["a"].owned, group.people["a"].assigned = {}, {"t": [0]}
    group.rebalance(cooperative=True, round=2)
    assert last(group) == [("round", 1, [], [])]


def test_a_topic_of_a_new_subscription_has_not_appeared() -> None:
    group = pair()
    group.people["b"].topics = ("t", "u")
    group.people["b"].assigned = {"u": [0]}
    group.rebalance()
    assert last(group) == [("resubscribed", 1, ["b"], ["u"])]


def test_the_assignor_changed() -> None:
    group = pair()
    group.assignor = "sticky"
    group.rebalance()
    assert last(group) == [("assignor-changed", 1, [], [])]


def test_only_the_leader_changed() -> None:
    group = pair()
    group.leader = "b"
    group.rebalance()
    group.leader = "a"
    group.add("c", client_id="three")
    group.rebalance()
    assert causes(group)[1:] == [
        [("leader-changed", 1, ["b"], [])],
        [("joined", 1, ["c"], [])],
    ]


def test_rounds_and_further_changes() -> None:
    group = pair()
    group.rebalance(round=2)
    group.add("c", client_id="three")
    group.rebalance(round=3)
    assert causes(group)[1:] == [
        [("round", 1, [], [])],
        [("joined", 1, ["c"], []), ("round", 1, [], [])],
    ]


def test_the_targets_of_an_episode_of_the_new_protocol_are_no_rounds() -> None:
    group = pair()
    group.protocol = "consumer"
    group.generation += 3  # several changes can share a target
    group.rebalance(round=2)
    assert last(group) == [("restless", 1, [], [])]


def test_nothing_changed() -> None:
    group = pair()
    group.rebalance()
    assert last(group) == [("restless", 1, [], [])]


def test_after_a_gap_the_cause_is_unknown() -> None:
    group = pair()
    group.miss()
    group.add("c", client_id="three")
    group.rebalance()
    assert last(group) == [("unknown", 1, [], [])]


def test_if_the_rebalance_before_failed_its_members_have_no_names() -> None:
    group = pair()
    group.rows.pop()
    del group.members[:]
    group.remove("b")
    group.add("c", client_id="three")
    group.people["a"].topics = ("u",)
    group.rebalance()
    assert last(group) == [
        ("joined", 1, ["c"], []),
        ("left", 1, [], []),
        ("resubscribed", 1, [], []),
    ]


def test_at_most_ten_members_are_named() -> None:
    group = pair()
    group.add(*(f"m{number:02}" for number in range(30)), client_id="three")
    group.rebalance()
    assert last(group) == [("joined", 30, [f"m{n:02}" for n in range(MOST_NAMES)], [])]


def test_documents_have_no_rebalance_before() -> None:
    group = Group()
    group.add("a")
    group.rebalance(source_kind="rebalance")
    assert last(group) == [("unknown", 1, [], [])]


def test_no_rebalances() -> None:
    assert causes() == []
