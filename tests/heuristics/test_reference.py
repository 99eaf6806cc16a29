"""Every heuristic compared with a slow reference of its published steps."""

from __future__ import annotations

from itertools import chain

import pytest
from hypothesis import given

from heuristics import ASSIGNORS
from rebalance import ClaimRule, InstanceError
from tests.heuristics.routes import (
    assigned,
    faults,
    fits,
    instance,
    layable,
    with_equal_subscriptions,
    with_lag,
)
from tests.references import heuristics as reference
from tests.references.range_racks import range_
from tests.support.amount import INSTANCES, seeds
from tests.support.examples import shared_by
from tests.support.shapes import Document
from tests.support.strategies import LARGER, seeded_rebalance


def agrees(document: Document) -> None:
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


@pytest.mark.heavy
def test_on_many_rebalances() -> None:
    small = (seeded_rebalance(seed) for seed in seeds(INSTANCES // 4))
    others = seeds(INSTANCES // 40, first=80)
    larger = (seeded_rebalance(seed, LARGER) for seed in others)
    for document in filter(fits, chain(small, larger)):
        agrees(document)


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
