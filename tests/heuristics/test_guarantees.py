"""Guarantees and known faults of each algorithm."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings

from heuristics import ASSIGNORS
from rebalance import document_of, figures_of
from solver import solve
from tests.heuristics.routes import (
    assigned,
    instance,
    layable,
    load,
    with_equal_subscriptions,
    with_lag,
    without_racks,
)
from tests.references.heuristics import (
    believed,
    members_in_order,
    most_kept_in_balance,
    size,
    wants,
)
from tests.support.examples import costly, shared_by
from tests.support.shapes import Document, member, rebalance, shape
from tests.support.strategies import LARGER, TINY

ACROSS_UNICODE = rebalance(
    {"\ufffd": 1, "\U0001f600": 1, "z": 1},
    {
        name: member(["\ufffd", "\U0001f600", "z"])
        for name in ("\ufffd", "\U0001f600", "z")
    },
)


@costly()
@example(ACROSS_UNICODE)
@given(layable(LARGER).map(without_racks))
def test_range_is_contiguous_and_favours_the_first(document: Document) -> None:
    held = assigned("range", document)
    for topic in document["topics"]:
        takers = [m for m in members_in_order(document) if wants(document, m, topic)]
        shares = [held[m].get(topic, []) for m in takers]
        in_order = [number for share in shares for number in share]
        assert in_order == list(range(size(document, topic) if takers else 0))
        counts = [len(share) for share in shares]
        assert counts == sorted(counts, reverse=True)
        assert max(counts, default=0) - min(counts, default=0) <= 1


@costly()
@given(layable(LARGER).map(with_equal_subscriptions))
def test_round_robin_evens_the_loads_of_equal_subscriptions(
    document: Document,
) -> None:
    loads = [load(mine) for mine in assigned("round-robin", document).values()]
    assert max(loads, default=0) - min(loads, default=0) <= 1


@settings(deadline=None)
@given(layable(LARGER).map(with_lag))
def test_lag_aware_evens_the_counts_of_each_topic(document: Document) -> None:
    if not document["topics"]:
        return
    held = assigned("lag-aware", document)
    for topic in document["topics"]:
        takers = [m for m in document["members"] if wants(document, m, topic)]
        counts = [len(held[m].get(topic, [])) for m in takers]
        assert max(counts, default=0) - min(counts, default=0) <= 1


@costly()
@given(layable(LARGER).map(with_equal_subscriptions))
def test_constrained_sticky_loads_are_the_quota_or_one_more(
    document: Document,
) -> None:
    loads = [load(mine) for mine in assigned("constrained-sticky", document).values()]
    quota = sum(loads) // max(1, len(loads))
    assert set(loads) <= {quota, quota + 1}


@settings(deadline=None)
@given(layable(TINY).map(with_equal_subscriptions))
def test_constrained_sticky_keeps_the_most_that_balance_allows(
    document: Document,
) -> None:
    held, owned = assigned("constrained-sticky", document), believed(document)
    kept = sum(
        len(set(held[m].get(topic, ())) & set(numbers))
        for m in owned
        for topic, numbers in owned[m].items()
    )
    assert kept == most_kept_in_balance(document)


@costly()
@given(layable(LARGER).map(with_equal_subscriptions))
def test_constrained_sticky_is_as_good_as_the_proved_optimum(
    document: Document,
) -> None:
    for entry in document["members"].values():
        entry.pop("capacity", None)  # KIP-615 counts partitions
    laid_out = instance(document)
    counted = figures_of(laid_out, ASSIGNORS["constrained-sticky"].assign(laid_out))
    proved = figures_of(laid_out, solve(laid_out).require_assignment())
    assert (counted.loads, counted.kept) == (proved.loads, proved.kept)


@pytest.mark.parametrize("name", ASSIGNORS)
@shared_by(len(ASSIGNORS))
@given(document=layable())
def test_order_of_keys_never_shows(name: str, document: Document) -> None:
    def turned(value: Document) -> Document:
        return dict(reversed(value.items()))

    mirrored = turned(document)
    for part in ("topics", "members"):
        mirrored[part] = turned(mirrored[part])
    if ASSIGNORS[name].refuses(instance(document)) is None:
        assert assigned(name, document) == assigned(name, mirrored)


def test_java_sorts_by_utf_16_unit() -> None:
    """U+1F600 is two surrogates and sorts before U+FFFD; in Python it sorts after."""
    held = assigned("range", ACROSS_UNICODE)
    assert held["z"] == {"z": [0], "\U0001f600": [0], "\ufffd": [0]}
    owners = assigned("round-robin", ACROSS_UNICODE)
    assert owners == {name: {name: [0]} for name in ("z", "\U0001f600", "\ufffd")}
    assert assigned("constrained-sticky", ACROSS_UNICODE) == owners


def test_range_leaves_members_without_any_though_partitions_abound() -> None:
    wanted = [f"t{i}" for i in range(50)]
    members = {name: member(wanted) for name in ("a", "b", "c")}
    held = assigned("range", rebalance(dict.fromkeys(wanted, 2), members))
    assert [load(mine) for mine in held.values()] == [50, 50, 0]


def test_lag_aware_greedy_misses_the_least_peak() -> None:
    document = shape("LAG_GREEDY_FAILS")
    held = assigned("lag-aware", document)
    lag = document["topics"]["t"]["lag"]
    peaks = [sum(lag[n] for n in mine["t"]) for mine in held.values()]
    assert max(peaks) == 4  # 3 and 0 against 1, 1 and 1 would peak at 3


def test_lag_aware_gives_every_topics_largest_lag_to_the_same_member() -> None:
    topics = {f"t{i}": {"partitions": 2, "lag": [9, 1]} for i in range(4)}
    members = {name: member(list(topics)) for name in ("a", "b")}
    held = assigned("lag-aware", rebalance(dict(topics), members))
    assert held["a"] == {f"t{i}": [0] for i in range(4)}


@pytest.mark.parametrize("name", ASSIGNORS)
def test_an_answer_is_read_only(name: str) -> None:
    answer = ASSIGNORS[name].assign(instance(shape("LAG")))
    with pytest.raises(ValueError, match="read-only"):
        answer.assignee[0] = 0


@pytest.mark.parametrize("name", ASSIGNORS)
def test_registered_under_its_own_name(name: str) -> None:
    assert ASSIGNORS[name].name == name
    laid_out = instance(shape("LAG"))
    answer = document_of(laid_out, ASSIGNORS[name].assign(laid_out), assignor=name)
    assert answer.status is None
