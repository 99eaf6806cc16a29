"""Shrinking keeps the kind of outcome, and is 1-minimal."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import unusual_shapes
from conformance.clients import Answer, Verdict
from conformance.runs import FAMILIES, Category, DrawnOutcome, drive
from conformance.shrinking import (
    Shrinker,
    Shrunk,
    ddmin,
    reduce_rebalance,
)
from rebalance import parse_rebalance
from tests.conformance.subjects import (
    Scripted,
    answered,
    failed,
    heuristic,
    in_rounds,
    optimal,
)
from tests.support.shapes import Document, claims_of, member, rebalance
from tests.support.strategies import LARGER, rebalances

SEGFAULT = failed(Verdict.CRASH, "SIGSEGV")


@given(st.lists(st.integers(0, 20), max_size=12), st.integers(0, 30))
def test_ddmin_is_minimal(items: list[int], least: int) -> None:
    def holds(some: Sequence[int]) -> bool:
        return sum(some) >= least

    if not holds(items):
        return
    kept = ddmin(items, holds)
    assert holds(kept)
    for i in range(len(kept)):
        assert not holds(kept[:i] + kept[i + 1 :])
    left = iter(items)
    assert all(item in left for item in kept)  # a sublist, in order


def crashing(document: Document) -> Answer:
    """Crash if three members subscribe to b and one of them claims two of it."""
    wanting = [m for m in document["members"].values() if "b" in m["subscription"]]
    claims = [len(m.get("owned", {}).get("b", [])) for m in wanting]
    if len(wanting) >= 3 and max(claims) >= 2:
        return SEGFAULT
    return optimal(document)


BIG = rebalance(
    {"a": 4, "b": {"partitions": 7, "lag": [3] * 7, "racks": [["x"]] * 7}, "c": 2},
    {
        f"client-{i}": member(
            ["a", "b", "c"],
            {"a": [i % 4], "b": [i]},
            40 + i,
            rack="x",
            instance_id=f"s{i}",
        )
        for i in range(6)
    }
    | {"client-9": member(["b"], {"b": [6, 2, 1]}, 7)},
    id="found",
)


def sighted(
    reply: Scripted, document: Document, *, cooperative: bool = False
) -> DrawnOutcome:
    outcome = drive(reply, document, cooperative=cooperative)
    return DrawnOutcome(family="file", seed=0, index=0, step=0, outcome=outcome)


def shrunk_of(
    subject: Scripted, document: Document, *, cooperative: bool = False
) -> Shrunk:
    sighting = sighted(subject, document, cooperative=cooperative)
    return Shrinker(subject=subject, cooperative=cooperative).shrink(sighting)


def test_a_known_fault_shrinks_to_the_known_minimum() -> None:
    subject = Scripted(crashing)
    shrunk = shrunk_of(subject, BIG)
    assert shrunk.is_minimal
    assert shrunk.seen is None
    assert shrunk.tests == len(subject.received) - 1
    assert shrunk.outcome.category is Category.CRASH
    members = {
        "m1": {"subscription": ["b"]},
        "m2": {"subscription": ["b"]},
        "m3": {"subscription": ["b"], "owned": {"b": [0, 1]}},
    }
    assert shrunk.outcome.rounds[0].rebalance == {
        "format": "rebalance/1",
        "group": "g",
        "topics": {"b": {"partitions": 2}},
        "members": members,
    }


def single_removals(document: Document) -> list[Document]:
    """Remove one thing at a time, by other code than that of shrinking."""
    found = []
    for name, entry in document["members"].items():
        others = {m: x for m, x in document["members"].items() if m != name}
        found.append(document | {"members": others})
        for topic in entry["subscription"]:
            fewer = entry | {
                "subscription": [t for t in entry["subscription"] if t != topic]
            }
            found.append(document | {"members": document["members"] | {name: fewer}})
        for topic, numbers in entry.get("owned", {}).items():
            for number in numbers:
                left = entry["owned"] | {topic: [n for n in numbers if n != number]}
                less = entry | {"owned": {t: ns for t, ns in left.items() if ns}}
                found.append(document | {"members": document["members"] | {name: less}})
    return found


@pytest.mark.heavy
@given(rebalances(LARGER), st.integers(1, 4), st.integers(0, 4))
def test_a_reduction_holds_and_no_single_removal_does(
    document: Document, members: int, claims: int
) -> None:
    def holds(candidate: Document) -> bool:
        parse_rebalance(json.dumps(candidate))  # every candidate is a document
        of_real = [
            (t, n)
            for _, t, n in claims_of(candidate)
            if n < candidate["topics"].get(t, {"partitions": 0})["partitions"]
        ]
        wanting = [m for m in candidate["members"].values() if m["subscription"]]
        return len(wanting) >= members and len(of_real) >= claims

    if not holds(document):
        return
    reduction = reduce_rebalance(document, holds)
    assert reduction.is_minimal
    small = reduction.rebalance
    assert holds(small)
    assert not any(map(holds, single_removals(small)))
    assert len(small["members"]) <= members + claims
    assert sum(topic["partitions"] for topic in small["topics"].values()) <= claims


@pytest.mark.heavy
@pytest.mark.parametrize("family", ["chains", "churn", "racks", "stale"])
def test_gaps_of_heuristics_are_minimal(family: str) -> None:
    subject = Scripted(heuristic("range"))
    shrunk_kinds = set()
    for index in range(6):
        document = FAMILIES[family].first(4, index)
        sighting = sighted(subject, document)
        if sighting.outcome.category is Category.OPTIMAL:
            continue
        shrunk = Shrinker(subject=subject, cooperative=False).shrink(sighting)
        small = shrunk.outcome.rounds[0].rebalance
        assert shrunk.outcome.category is sighting.outcome.category
        assert shrunk.is_minimal
        for removal in single_removals(small):
            assert drive(subject, removal).category is not sighting.outcome.category
        shrunk_kinds.add(shrunk.outcome.category)
    assert shrunk_kinds


def test_the_detail_stays() -> None:
    """A fault does not turn into another one of its category."""

    def raising(document: Document) -> Answer:
        if len(document["members"]) >= 4:
            return failed(Verdict.ERROR, "KeyError: 'm7'")
        return failed(Verdict.ERROR, "ValueError: too few")

    shrunk = shrunk_of(Scripted(raising), BIG)
    assert len(shrunk.outcome.rounds[0].rebalance["members"]) == 4
    assert shrunk.outcome.detail == "KeyError"


def test_rounds_are_shrunk() -> None:
    def eager_sometimes(document: Document) -> Answer:
        reply = optimal if len(document["topics"]) >= 2 else in_rounds(optimal)
        return reply(document)

    document = FAMILIES["joiners"].first(1, 5)
    subject = Scripted(eager_sometimes)
    sighting = sighted(subject, document, cooperative=True)
    assert sighting.outcome.category is Category.UNREVOKED
    shrunk = Shrinker(subject=subject, cooperative=True).shrink(sighting)
    small = shrunk.outcome.rounds[0].rebalance
    assert len(small["members"]) == 2
    assert len(small["topics"]) == 2
    assert shrunk.is_minimal


def test_a_flaky_finding_is_marked() -> None:
    rng = Random(5)  # noqa: S311

    def flaky(document: Document) -> Answer:
        if len(document["members"]) >= 2 and rng.random() < 0.4:
            return SEGFAULT
        return optimal(document)

    subject = Scripted(flaky)
    sighting = sighted(Scripted(lambda _: SEGFAULT), BIG)
    shrunk = Shrinker(subject=subject, cooperative=False).shrink(sighting)
    assert shrunk.seen is not None
    k, n = shrunk.seen
    assert 0 < k < n
    assert shrunk.outcome.category is Category.CRASH
    assert len(shrunk.outcome.rounds[0].rebalance["members"]) == 2


def test_a_finding_that_every_run_shows_stays_one() -> None:
    """Two members are enough in some runs, three in all."""
    rng = Random(3)  # noqa: S311

    def sometimes(document: Document) -> Answer:
        share = {0: 0.0, 1: 0.0, 2: 0.5}.get(len(document["members"]), 1.0)
        return SEGFAULT if rng.random() < share else optimal(document)

    shrunk = shrunk_of(Scripted(sometimes), BIG)
    assert shrunk.seen is None
    assert len(shrunk.outcome.rounds[0].rebalance["members"]) == 3


def test_a_finding_that_is_not_seen_again_stays_as_it_is() -> None:
    sighting = sighted(Scripted(lambda _: SEGFAULT), BIG)
    shrunk = Shrinker(subject=Scripted(optimal), cooperative=False).shrink(sighting)
    assert shrunk.seen == (0, 20)
    assert not shrunk.is_minimal
    assert shrunk.outcome == sighting.outcome


def test_a_budget_ends_the_search() -> None:
    subject = Scripted(crashing)
    sighting = sighted(subject, BIG)
    few = Shrinker(subject=subject, cooperative=False, tests=3).shrink(sighting)
    assert not few.is_minimal
    assert few.outcome.category is Category.CRASH
    none = Shrinker(subject=subject, cooperative=False, seconds=0).shrink(sighting)
    assert none.outcome.rounds[0].rebalance == BIG


def test_names_keep_their_order() -> None:
    """The fault needs the first member by name to be another than the owner."""

    def ordered(document: Document) -> Answer:
        first = min(document["members"], default=None)
        owners = [m for m, member in document["members"].items() if member.get("owned")]
        if owners and first not in owners:
            return SEGFAULT
        return answered({})

    document = rebalance(
        {"z": 1},
        {"q": member(["z"], {"z": [0]}, 3), "b": member(["z"]), "x": member(["z"])},
    )
    shrunk = shrunk_of(Scripted(ordered), document)
    assert shrunk.outcome.rounds[0].rebalance["members"] == {
        "m1": {"subscription": ["t1"]},
        "m2": {"subscription": ["t1"], "owned": {"t1": [0]}},
    }


def test_nothing_unusual_is_added() -> None:
    """The assignor fails in any group; no member loses its only topic for that."""
    document = FAMILIES["churn"].first(1, 0)
    assert not unusual_shapes(document)
    shrunk = shrunk_of(Scripted(lambda _: SEGFAULT), document)
    small = shrunk.outcome.rounds[0].rebalance
    assert small["topics"] == {"t1": {"partitions": 1}}
    assert small["members"] == {"m1": {"subscription": ["t1"]}}
    assert shrunk.is_minimal


@pytest.mark.parametrize(
    ("topics", "members", "expected"),
    [
        ({"t": 1}, {}, "no-members"),
        ({"t": 1, "u": 0}, {"a": member(["t"])}, "empty-topic"),
        ({"t": 1}, {"a": member([])}, "idle-member"),
        ({"t": 1}, {"a": member(["t", "u"])}, "missing-topic"),
        (
            {"t": 1, "u": 1},
            {"a": member(["u"], {"t": [0]})},
            "left-claims",
        ),
        ({"t": 1}, {"a": member(["t"], {"t": [1]})}, "lost-claims"),
        (
            {"t": 1},
            {"a": member(["t"], {"t": [0]}, 1), "b": member(["t"], {"t": [0]}, 2)},
            "double-claims",
        ),
    ],
)
def test_each_unusual_shape_is_seen(
    topics: dict[str, int], members: Document, expected: str
) -> None:
    assert unusual_shapes(rebalance(topics, members)) == {expected}
    usual = rebalance({"t": 1}, {"a": member(["t"], {"t": [0]}, 1), "b": member(["t"])})
    assert not unusual_shapes(usual)


def test_a_tie_is_a_shape_of_its_own() -> None:
    tied = {"a": member(["t"], {"t": [0]}, 1), "b": member(["t"], {"t": [0]}, 1)}
    assert unusual_shapes(rebalance({"t": 1}, tied)) == {
        "double-claims",
        "tied-claims",
    }
