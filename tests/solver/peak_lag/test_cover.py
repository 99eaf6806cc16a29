"""Covers by hands, against enumeration."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.lags import group
from solver.limits import Limits
from solver.peak_lag import solve
from solver.peak_lag.cover import Cover
from solver.peak_lag.hands import peak_with
from solver.peak_lag.work import Work
from solver.policy import parse_policy
from solver.result import Status
from tests.shapes import Document
from tests.solver.brute import Brute
from tests.solver.peak_lag.settings import lagging, settings_of
from tests.solver.peak_lag.test_packing import heap
from tests.solver.peak_lag.test_settle import check_allowed
from tests.solver.routes import INSTANCES
from tests.strategies import TINY
from verify import TooLarge

SEEDS = range(max(20, INSTANCES // 20))


def check(document: Document) -> int:
    """Ask for the best peak, and for less; return how often that was settled."""
    settled = 0
    try:
        brute = Brute(document)
    except TooLarge:
        return 0
    for setting, balance in zip(
        settings_of(document), ("dec-min", "per-topic", "none"), strict=False
    ):
        cover = Cover(setting)
        if not cover.is_small:
            continue
        best: Any = (brute.best(f"{balance}; peak-lag") or [0])[0]
        best //= int(setting.room.unit[0])
        holder, is_settled = cover.holder(best - 1, Work(limits=Limits()))
        assert holder is None
        settled += is_settled
        holder, is_settled = cover.holder(best, Work(limits=Limits()))
        if is_settled:
            assert holder is not None
        if holder is not None:
            check_allowed(setting, holder)
            assert peak_with(setting.room, holder) == best * setting.room.unit[0]
    return settled


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_is_below_the_best(seed: int) -> None:
    check(heap(seed))
    document = lagging(seed, TINY)
    if len(settings_of(document)) == 3:
        check(document)


def test_most_are_settled() -> None:
    assert sum(check(heap(seed)) for seed in range(20)) > 20


@pytest.mark.parametrize("topics", [1, 3])
def test_uniform_lag_is_proved(topics: int) -> None:
    """No bound by terms meets it: the mean is between what hands can weigh."""
    laid_out = group("uniform", partitions=30, members=6, topics=topics, seed=0)
    policy = parse_policy("per-topic; peak-lag")
    outcome = solve(laid_out, policy, limits=Limits(effort=5))
    assert outcome.status is Status.OPTIMAL
    (found,) = outcome.objectives
    assert found.proof is not None
    assert found.proof.by == "search"
    assert found.proof.engine == "cover of hands"


def test_hands_without_lag_may_be_empty() -> None:
    """One member has all there is to have; no hand of the others is missed."""
    topics = {"t": {"partitions": 3, "lag": [9, 0, 0]}}
    members: Any = {name: {"subscription": ["t"]} for name in "abc"}
    document = {"format": "rebalance/1", "group": "g", "topics": topics,
                "members": members}  # fmt: skip
    for setting in settings_of(document):
        holder, is_settled = Cover(setting).holder(9, Work(limits=Limits()))
        assert holder is not None or not is_settled
