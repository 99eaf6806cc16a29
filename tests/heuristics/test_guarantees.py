"""Guarantees and known faults of each algorithm."""

from __future__ import annotations

from dataclasses import fields
from functools import partial

import numpy as np
import pytest
from hypothesis import given

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
)
from tests.support.examples import costly, shared_by
from tests.support.shapes import CHAIN, Document, member, rebalance, shape
from tests.support.strategies import LARGER, seeded_rebalance


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


@pytest.mark.parametrize("name", ASSIGNORS)
def test_an_answer_is_read_only(name: str) -> None:
    answer = ASSIGNORS[name].assign(instance(shape("LAG")))
    with pytest.raises(ValueError, match="read-only"):
        answer.assignee[0] = 0


def test_an_unknown_name_lists_those_that_there_are() -> None:
    known = ", ".join(ASSIGNORS)
    with pytest.raises(UnknownAssignorError, match=f"no assignor 'best'; .*: {known}"):
        assign(instance(CHAIN), "best")


@pytest.mark.parametrize("name", ASSIGNORS)
@shared_by(len(ASSIGNORS))
@given(document=layable())
def test_a_name_assigns_or_refuses_as_its_assignor(
    name: str, document: Document
) -> None:
    laid_out = instance(document)
    assert ASSIGNORS[name].name == name
    reason = ASSIGNORS[name].refuses(laid_out)
    if reason is None:
        expected = ASSIGNORS[name].assign(laid_out).assignee.tolist()
        assert assign(laid_out, name).assignee.tolist() == expected
        return
    for refused in (ASSIGNORS[name].assign, partial(assign, name=name)):
        with pytest.raises(InstanceError, match=reason):
            refused(laid_out)


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
