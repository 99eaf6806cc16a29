"""Every heuristic on the same rebalances, by one check each.

Each check compares answers with a slow reference, an engine, or the judge.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import given

from heuristics import ASSIGNORS
from rebalance import NOBODY, ClaimRule, Instance, InstanceError
from solver import solve
from tests.heuristics import test_cooperative_sticky, test_sticky
from tests.heuristics.routes import (
    LAYABLE,
    assigned,
    faults,
    fits,
    instance,
    is_kip54_balanced,
    layable,
    with_equal_subscriptions,
    with_lag,
    without_racks,
)
from tests.references import heuristics as reference
from tests.references.range_racks import range_
from tests.references.uniform import uniform
from tests.support.amount import INSTANCES, seeds
from tests.support.shapes import Document
from tests.support.strategies import LARGER, Limits, seeded_rebalance


def check_published_steps(document: Document) -> None:
    equal = with_equal_subscriptions(document)
    for name, slow, given_document in (
        ("range", range_, document),
        ("round-robin", reference.round_robin, document),
        ("lag-aware", reference.lag_aware, with_lag(document)),
        ("constrained-sticky", reference.constrained_sticky, equal),
    ):
        if ASSIGNORS[name].refuses(instance(given_document)) is None:
            held = assigned(name, given_document)
            assert held == slow(given_document), name
            assert faults(given_document, held) == [], name
    if instance(equal).n_classes <= 1:
        rule = ClaimRule.CURRENT_GENERATION
        held = assigned("constrained-sticky", equal, rule)
        assert held == reference.constrained_sticky(equal, current_only=True)


def check_server_range(document: Document) -> None:
    """It does not look at racks, and is the client's range without them."""
    held, plain = assigned("server-range", document), without_racks(document)
    assert held == range_(plain) == assigned("range", plain)
    assert faults(document, held) == []


def check_uniform(document: Document) -> None:
    for comparable in (document, with_equal_subscriptions(document)):
        held = assigned("uniform", comparable)
        assert held == uniform(comparable)
        assert faults(comparable, held) == []
        assert is_kip54_balanced(comparable, held)


def check_fair(document: Document) -> None:
    """Claims do not count for fair; fairest-sticky moves nothing, KIP-54's way."""
    held = assigned("fair", document)
    assert faults(document, held) == []
    assert is_kip54_balanced(document, held)
    members = {
        name: {key: about[key] for key in about if key not in ("owned", "generation")}
        for name, about in document["members"].items()
    }
    assert assigned("fair", document | {"members": members}) == held
    assert faults(document, assigned("fairest-sticky", document)) == []
    laid_out = instance(document)
    holder = ASSIGNORS["fairest-sticky"].assign(laid_out).assignee
    owned = laid_out.owner != NOBODY
    assert (holder[owned] == laid_out.owner[owned]).all()
    load = np.bincount(holder[holder != NOBODY], minlength=len(laid_out.members))
    for member in range(len(laid_out.members)):
        wanted = np.isin(laid_out.partition_topic, laid_out.topics_of(member))
        others = holder[wanted & ~owned & (holder != NOBODY)]
        assert (load[others] <= load[member] + 1).all()


def loads(laid_out: Instance, holder: np.ndarray) -> list[int]:
    held = np.bincount(holder[holder != NOBODY], minlength=len(laid_out.members))
    return sorted(held.tolist())


def check_chain_sticky(document: Document) -> int:
    """Assert that it is valid and balanced; return moves beyond the fewest.

    Capacities do not count, so they are left out.
    """
    members = {
        name: {key: about[key] for key in about if key != "capacity"}
        for name, about in document["members"].items()
    }
    document = document | {"members": members}
    assert faults(document, assigned("chain-sticky", document)) == []
    laid_out = instance(document)
    holder = ASSIGNORS["chain-sticky"].assign(laid_out).assignee
    best = solve(laid_out).require_assignment().assignee
    assert loads(laid_out, holder) == loads(laid_out, best)
    owned = laid_out.owner != NOBODY
    moved, fewest = (
        int(np.count_nonzero(owned & (assignee != laid_out.owner)))
        for assignee in (holder, best)
    )
    assert moved >= fewest
    return moved - fewest


def check_lag_swaps(document: Document) -> None:
    """Counts are even topic by topic; a document without lag is refused."""
    laid_out = instance(document)
    if laid_out.lag is None:
        with pytest.raises(InstanceError, match="tells no lag"):
            ASSIGNORS["lag-swaps"].assign(laid_out)
        document = with_lag(document)
    if instance(document).lag is not None:
        held = assigned("lag-swaps", document)
        assert faults(document, held) == []
        for topic in document["topics"]:
            takers = [m for m in held if reference.wants(document, m, topic)]
            counts = [len(held[member].get(topic, ())) for member in takers]
            assert not counts or max(counts) - min(counts) <= 1


CHECKS: dict[str, Callable[[Document], object]] = {
    "chain-sticky": check_chain_sticky,
    "cooperative-sticky": test_cooperative_sticky.agrees,
    "fair": check_fair,
    "lag-swaps": check_lag_swaps,
    "published steps": check_published_steps,
    "server-range": check_server_range,
    "sticky": test_sticky.agrees,
    "uniform": check_uniform,
}
LONGER = Limits(members=9, topics=8, partitions=15)
LARGE = {
    "cooperative-sticky": (seeds(test_sticky.DRAWN), [LARGER]),
    "fair": (range(200), [LARGER]),
    "lag-swaps": (seeds(min(300, INSTANCES // 20)), [LARGER]),
    "published steps": (seeds(80), [LARGER]),
    "server-range": (range(100), [LARGER]),
    "sticky": (seeds(test_sticky.DRAWN), [LARGER]),
    "uniform": (range(150), [LARGER, LONGER]),
}
"""Seeds and limits of larger rebalances; chain-sticky has a test of its own."""


@pytest.mark.parametrize("document", LAYABLE)
@pytest.mark.parametrize("name", CHECKS)
def test_on_the_named_shapes(name: str, document: Document) -> None:
    CHECKS[name](document)


@pytest.mark.parametrize("name", CHECKS)
@given(document=layable())
def test_on_small_rebalances(name: str, document: Document) -> None:
    CHECKS[name](document)


@pytest.mark.parametrize("name", LARGE)
def test_on_larger_rebalances(name: str) -> None:
    for seed, limits in product(*LARGE[name]):
        document = seeded_rebalance(seed, limits)
        if fits(document):
            CHECKS[name](document)


def test_chain_sticky_has_few_needless_moves() -> None:
    drawn = (seeded_rebalance(seed, LARGER) for seed in range(400))
    needless = [check_chain_sticky(document) for document in filter(fits, drawn)]
    assert sum(map(bool, needless)) < len(needless) // 4
    assert sum(needless) < len(needless)
