"""Every heuristic on the same rebalances, by the check of its own module.

Each check (``agrees``) compares answers with a slow reference, an engine, or the judge.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest
from hypothesis import given

from tests.heuristics import (
    test_chain_sticky,
    test_cooperative_sticky,
    test_fair,
    test_lag_swaps,
    test_reference,
    test_server_range,
    test_sticky,
    test_uniform,
)
from tests.heuristics.routes import LAYABLE, fits, layable
from tests.support.amount import INSTANCES, seeds
from tests.support.shapes import Document
from tests.support.strategies import LARGER, Limits, seeded_rebalance

CHECKS: dict[str, Callable[[Document], object]] = {
    "chain-sticky": test_chain_sticky.agrees,
    "cooperative-sticky": test_cooperative_sticky.agrees,
    "fair": test_fair.agrees,
    "lag-swaps": test_lag_swaps.agrees,
    "published steps": test_reference.agrees,
    "server-range": test_server_range.agrees,
    "sticky": test_sticky.agrees,
    "uniform": test_uniform.agrees,
}
LONGER = Limits(members=9, topics=8, partitions=15)
LARGE = {
    "cooperative-sticky": (seeds(test_sticky.DRAWN), [LARGER]),
    "fair": (range(200), [LARGER]),
    "lag-swaps": (seeds(min(300, INSTANCES // 20)), [LARGER]),
    "published steps": (range(80), [LARGER]),
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
