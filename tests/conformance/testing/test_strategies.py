"""The strategies for test suites of assignors: what they draw, and that it shrinks."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from random import Random
from typing import Any, cast

import pytest
from hypothesis import Phase, find, given, settings

import verify
from conformance.random_rebalances import draw_churn
from heuristics import ASSIGNORS, CooperativeStickyAssignor
from oracle.pytest_plugin import (
    Assign,
    Churn,
    Instance,
    assert_optimal,
    assert_valid,
    churn,
    claims,
    corpus_instances,
    instances,
)
from rebalance import document_of, instance_of, members_of, plain_of, rebalance_of
from solver import solve
from tests.support.shapes import CHAIN, claims_of

FIRST = settings(
    max_examples=3000, deadline=None, database=None, phases=[Phase.generate]
)
"""Draws until an example is found, and shrinks nothing."""
SEEDS = 60
CORPUS = corpus_instances()


def assignor(name: str) -> Assign:
    """Return one of our heuristics in the form that a test suite has."""

    def assign(document: Instance) -> Instance:
        instance = instance_of(rebalance_of(document))
        answer = ASSIGNORS[name].assign(instance)
        return plain_of(document_of(instance, answer, assignor=name))

    return assign


def first_round(document: Instance) -> Instance:
    """Assign one cooperative round, as the leader of a group does."""
    instance = instance_of(rebalance_of(document))
    answer = CooperativeStickyAssignor().first_round(instance).given
    return {"format": "assignment/1", "members": members_of(instance, answer)}


def optimum(document: Instance) -> Instance:
    instance = instance_of(rebalance_of(document))
    return plain_of(solve(instance).to_document(instance))


def parts(instance: Instance) -> list[dict[str, Any]]:
    return [*instance["topics"].values(), *instance["members"].values()]


@pytest.mark.heavy
@given(instances(max_members=3, max_topics=2, max_partitions=5))
def test_instances_keep_their_limits(instance: Instance) -> None:
    verify.read_rebalance(json.dumps(instance))
    assert 1 <= len(instance["members"]) <= 3
    assert len(instance["topics"]) <= 2
    assert all(t["partitions"] <= 5 for t in instance["topics"].values())
    optional = {"lag", "racks", "rack", "capacity"}
    assert not any(optional & part.keys() for part in parts(instance))


@pytest.mark.parametrize("name", ["max_members", "max_topics", "max_partitions"])
@pytest.mark.parametrize("strategy", [instances, churn])
def test_a_limit_is_positive(strategy: Callable[..., object], name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} is at least 1, not 0"):
        strategy(**{name: 0})


@pytest.mark.parametrize(
    ("option", "key"),
    [("lag", "lag"), ("racks", "racks"), ("racks", "rack"), ("capacities", "capacity")],
)
def test_requested_options_are_drawn(option: str, key: str) -> None:
    strategy = instances(**{option: True})
    find(strategy, lambda drawn: any(key in p for p in parts(drawn)), settings=FIRST)


def claimed(instance: Instance) -> list[tuple[str, int]]:
    return [(topic, number) for _, topic, number in claims_of(instance)]


def unsubscribed(instance: Instance) -> bool:
    return any(
        topic in instance["topics"] and topic not in member["subscription"]
        for member in instance["members"].values()
        for topic in member.get("owned", {})
    )


SHAPES: dict[str, Callable[[Instance], bool]] = {
    "no claim": lambda drawn: not claimed(drawn),
    "a partition claimed twice": lambda drawn: (
        len(claimed(drawn)) > len({*claimed(drawn)})
    ),
    "a topic that is gone": lambda drawn: any(
        topic not in drawn["topics"] for topic, _ in claimed(drawn)
    ),
    "a partition beyond the last": lambda drawn: any(
        number >= drawn["topics"].get(topic, {"partitions": 9})["partitions"]
        for topic, number in claimed(drawn)
    ),
    "a topic not subscribed to": unsubscribed,
    "an older generation": lambda drawn: (
        len({m.get("generation") for m in drawn["members"].values()}) > 1
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_claims_of_every_kind_are_drawn(shape: str) -> None:
    find(claims(), SHAPES[shape], settings=FIRST)


@pytest.mark.heavy
@given(claims(CHAIN))
def test_claims_change_nothing_else(drawn: Instance) -> None:
    for member in drawn["members"].values():
        member.pop("owned", None)
        member.pop("generation", None)
    bare = json.loads(json.dumps(CHAIN))
    for member in bare["members"].values():
        member.pop("owned", None)
        member.pop("generation", None)
    assert drawn == bare
    assert claimed(CHAIN)  # what was given is not changed


@pytest.mark.heavy
def test_a_failure_shrinks() -> None:
    """A group that range does not balance, without a claim that plays no part."""
    assign = assignor("range")

    def fails(instance: Instance) -> bool:
        figures = verify.judge(instance, cast("Instance", assign(instance)))["figures"]
        return not figures["dec_min_balanced"]

    enough = settings(max_examples=200, deadline=None, database=None, derandomize=True)
    found = find(instances(max_members=2), fails, settings=enough)
    assert sum(t["partitions"] for t in found["topics"].values()) <= 4
    assert not claimed(found)


@pytest.mark.heavy
@given(churn(max_steps=5))
def test_churn_is_claimed_as_it_was_assigned(history: Churn) -> None:
    assert 1 <= len(history.states) <= 5
    last: Any = {}
    for number, (instance, answer) in enumerate(history.run(optimum)):
        verify.read_rebalance(json.dumps(instance))
        assert instance["members"]
        for name, member in instance["members"].items():
            if member.get("generation") == number and number:
                assert member["owned"] == {t: n for t, n in last[name].items() if n}
        assert_optimal(instance, answer)
        last = cast("Instance", answer)["members"]


@pytest.mark.heavy
def test_churn_has_every_change() -> None:
    """Members join, leave, return with older claims; topics come, grow, and go."""
    seen = set()
    for seed in range(SEEDS):
        states = draw_churn(Random(seed), steps=6)  # noqa: S311
        for before, after in pairwise(states):
            members, topics = before["members"].keys(), before["topics"].keys()
            seen |= {"leave"} if members - after["members"].keys() else set()
            seen |= {"join"} if after["members"].keys() - members else set()
            seen |= {"create"} if after["topics"].keys() - topics else set()
            seen |= {"delete"} if topics - after["topics"].keys() else set()
            for name in topics & after["topics"].keys():
                sizes = [
                    state["topics"][name]["partitions"] for state in (before, after)
                ]
                seen |= {"grow"} if sizes[0] < sizes[1] else set()
                assert sizes[0] <= sizes[1]
            seen |= {
                "resubscribe"
                for name in members & after["members"].keys()
                if before["members"][name] != after["members"][name]
            }
        generations = [
            {m.get("generation") for m in instance["members"].values()} - {None}
            for instance, _ in Churn(states=tuple(states)).run(optimum)
        ]
        seen |= (
            {"return"}
            if any(len(generation) > 1 for generation in generations)
            else set()
        )
    expected = {"join", "leave", "return", "create", "grow", "delete", "resubscribe"}
    assert seen == expected


@pytest.mark.heavy
@given(churn(max_steps=4))
def test_cooperative_churn_continues_to_a_stable_state(history: Churn) -> None:
    rounds = list(history.run(first_round, cooperative=True))
    assert len(rounds) >= len(history.states)
    for instance, answer in rounds:
        assert_valid(instance, answer, cooperative=True)
    assert_valid(*rounds[-1])  # nothing is withheld at the end


def test_an_assignor_that_never_settles_is_restless() -> None:
    """It gives everything to the member that owns nothing."""
    state: Instance = {
        "format": "rebalance/1",
        "group": "g",
        "topics": {"t": {"partitions": 1}},
        "members": {"a": {"subscription": ["t"]}, "b": {"subscription": ["t"]}},
    }

    def swap(instance: Instance) -> Instance:
        owner = instance["members"]["a"].get("owned")
        return {"b" if owner else "a": {"t": [0]}}

    history = Churn(states=(state, state))
    with pytest.raises(AssertionError, match=r"restless.*10 rounds"):
        list(history.run(swap, cooperative=True))
    assert len(list(history.run(swap))) == 2


@pytest.mark.parametrize("name", CORPUS)
def test_the_corpus_has_a_rebalance_per_scenario(name: str) -> None:
    assert_valid(CORPUS[name], optimum(CORPUS[name]))
