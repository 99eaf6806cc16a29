"""Lags times a number: every optimum times that number, whatever the engine.

The factor is the largest with which the total lag fits into int64, where sums of a few
lags that are not checked would exceed it.
"""

from __future__ import annotations

from functools import partial
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver import Limits, Result, solve
from solver.policy import parse_policy
from tests.solver.peak_lag.settings import lagging
from tests.solver.routes import instance
from tests.support.examples import costly
from tests.support.shapes import Document, member, rebalance
from tests.support.strategies import TINY

POLICIES = (
    "none; peak-lag",
    "per-topic; peak-lag",
    "dec-min; peak-lag",
    "none; peak-lag, stickiness",
)


def few_with_large_lags(seed: int) -> Document:
    """Return a rebalance where most members can only have small lags.

    Their caps exceed their lags by far: sums of caps exceed int64 first.
    """
    rng = Random(seed)  # noqa: S311
    large = [rng.randint(1, 1000) for _ in range(rng.randint(9, 13))]
    small = [rng.randint(1, 3) for _ in range(rng.randint(3, 13))]
    topics = {
        name: {"partitions": len(lags), "lag": lags}
        for name, lags in (("t", large), ("u", small))
    }
    group = {f"a{i}": member(["t", "u"] if not i else ["t"]) for i in range(3)}
    group |= {f"z{i:02}": member(["u"]) for i in range(len(small))}
    return rebalance(topics, group)


def times(document: Document, factor: int) -> Document:
    """Return the rebalance with each lag times a number, and without capacities.

    Objectives of unequal capacities have a scale of their own, and reach int64 earlier.
    """
    topics = {
        name: topic | {"lag": [factor * lag for lag in topic["lag"]]}
        for name, topic in document["topics"].items()
    }
    members = {
        name: {key: value for key, value in member.items() if key != "capacity"}
        for name, member in document["members"].items()
    }
    return document | {"topics": topics, "members": members}


def solved(document: Document, policy: str) -> Result:
    return solve(instance(document), parse_policy(policy), limits=Limits(effort=2))


@pytest.mark.heavy(minutes=1)
@costly()
@given(
    document=st.integers(0, 10**6).map(partial(lagging, limits=TINY))
    | st.integers(0, 10**6).map(few_with_large_lags),
    policy=st.sampled_from(POLICIES),
)
def test_no_value_is_below_a_bound_of_the_other(
    document: Document, policy: str
) -> None:
    total = sum(sum(topic["lag"]) for topic in document["topics"].values())
    if not total:
        return
    factor = (2**63 - 1) // total
    small, large = (solved(times(document, n), policy) for n in (1, factor))
    first, first_of_large = small.objectives[0], large.objectives[0]
    assert isinstance(first.value, int)
    assert isinstance(first.bound, int)
    assert isinstance(first_of_large.value, int)
    assert isinstance(first_of_large.bound, int)
    assert first.bound * factor <= first_of_large.value
    assert first_of_large.bound <= first.value * factor
    assert first_of_large.value % factor == 0
