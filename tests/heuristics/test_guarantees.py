"""Guarantees and known faults of each algorithm."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import example, given

from heuristics import ASSIGNORS, UnknownAssignorError, assign
from rebalance import Instance, InstanceError, figures_of
from solver import solve
from tests.heuristics.routes import (
    assigned,
    faults,
    fits,
    instance,
    is_kip54_balanced,
    layable,
    load,
    with_equal_subscriptions,
    without_racks,
)
from tests.references.heuristics import (
    members_in_order,
    size,
    wants,
)
from tests.support.examples import costly, shared_by
from tests.support.shapes import CHAIN, Document, member, rebalance, shape
from tests.support.strategies import LARGER, seeded_rebalance

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


@pytest.mark.parametrize("name", ["constrained-sticky", "uniform"])
@costly()
@given(document=layable(LARGER).map(with_equal_subscriptions))
def test_equal_subscriptions_are_assigned_as_well_as_in_the_proved_optimum(
    name: str, document: Document
) -> None:
    for entry in document["members"].values():
        entry.pop("capacity", None)  # KIP-615 and KIP-848 count partitions
    laid_out = instance(document)
    counted = figures_of(laid_out, ASSIGNORS[name].assign(laid_out))
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


@pytest.mark.parametrize("name", ASSIGNORS)
def test_an_answer_is_read_only(name: str) -> None:
    answer = ASSIGNORS[name].assign(instance(shape("LAG")))
    with pytest.raises(ValueError, match="read-only"):
        answer.assignee[0] = 0


@pytest.mark.parametrize("name", ASSIGNORS)
def test_a_name_assigns_as_its_assignor(name: str) -> None:
    assert ASSIGNORS[name].name == name
    laid_out = instance(CHAIN)
    if reason := ASSIGNORS[name].refuses(laid_out):
        with pytest.raises(ValueError, match=reason):
            assign(laid_out, name)
    else:
        expected = ASSIGNORS[name].assign(laid_out).assignee.tolist()
        assert assign(laid_out, name).assignee.tolist() == expected


def test_an_unknown_name_lists_those_that_there_are() -> None:
    known = ", ".join(ASSIGNORS)
    with pytest.raises(UnknownAssignorError, match=f"no assignor 'best'; .*: {known}"):
        assign(instance(CHAIN), "best")


@pytest.mark.parametrize("name", ASSIGNORS)
@shared_by(len(ASSIGNORS))
@given(document=layable())
def test_assign_raises_where_refuses_gives_a_reason(
    name: str, document: Document
) -> None:
    laid_out = instance(document)
    reason = ASSIGNORS[name].refuses(laid_out)
    if reason is None:
        ASSIGNORS[name].assign(laid_out)
    else:
        with pytest.raises(InstanceError, match=reason):
            ASSIGNORS[name].assign(laid_out)


def test_refusals_are_exactly_mixed_subscriptions_and_absent_lag() -> None:
    for seed in range(500):
        document = seeded_rebalance(seed)
        if not fits(document):
            continue
        topics, members = document["topics"], document["members"].values()
        wanted = {frozenset(topics.keys() & m["subscription"]) for m in members}
        tells_lag = any("lag" in about for about in topics.values())
        laid_out = instance(document)
        refused = {
            name for name, assignor in ASSIGNORS.items() if assignor.refuses(laid_out)
        }
        expected = {"constrained-sticky"} if len(wanted) > 1 else set()
        by_lag = set() if tells_lag else {"lag-aware", "lag-swaps"}
        assert refused == expected | by_lag


def test_uniform_ends_after_sixteen_turns() -> None:
    """Each pass moves partitions by one member: the upper half stays uneven."""
    rungs = 40
    counts = {f"t{i:02}": 60 for i in range(rungs)}
    members = {
        f"m{i:02}": member(
            [t for t in (f"t{i - 1:02}", f"t{i:02}") if t in counts],
            {f"t{i:02}": list(range(60))} if i < rungs else {},
            1,
        )
        for i in range(rungs + 1)
    }
    document = rebalance(counts, members)
    held = assigned("uniform", document)
    assert faults(document, held) == []
    assert not is_kip54_balanced(document, held)
    assert [load(held[m]) for m in list(members)[: rungs - 16]] == [60] * (rungs - 16)


def with_unused_class(laid_out: Instance) -> Instance:
    """Let a first class want the first topic, and no member be of it."""
    columns = {f.name: getattr(laid_out, f.name) for f in fields(Instance) if f.init}
    first = np.zeros(1, dtype=np.int32)
    return Instance(
        **columns
        | {
            "member_class": laid_out.member_class + np.int32(1),
            "class_offsets": np.r_[0, laid_out.class_offsets + 1],
            "class_topics": np.r_[first, laid_out.class_topics],
        }
    )


def test_a_class_without_members_changes_nothing() -> None:
    for name in ("LAG", "ONLY_MISSING_TOPICS_MEMBER"):
        laid_out = instance(shape(name))
        padded = with_unused_class(laid_out)
        for assignor in ASSIGNORS.values():
            assert assignor.refuses(padded) == assignor.refuses(laid_out)
            if assignor.refuses(padded) is None:
                same = assignor.assign(padded).assignee, assignor.assign(laid_out)
                assert same[0].tolist() == same[1].assignee.tolist()
