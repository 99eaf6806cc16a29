"""What does not pack, and what does, against enumeration and the judge."""

from __future__ import annotations

import json
from itertools import combinations
from random import Random
from typing import Any

import numpy as np
import pytest

import verify
from rebalance import to_json
from solver.limits import Limits
from solver.peak_lag import solve
from solver.peak_lag.hands import peak_with
from solver.peak_lag.pack import packed
from solver.peak_lag.packing import _least, is_packing, packing_of
from solver.peak_lag.sets import Sets
from solver.peak_lag.setting import Setting
from solver.peak_lag.work import Work
from solver.policy import parse_policy
from tests.shapes import Document, member, rebalance
from tests.solver.brute import Brute
from tests.solver.peak_lag.settings import settings_of
from tests.solver.peak_lag.test_settle import check_allowed
from tests.solver.routes import INSTANCES, instance

SEEDS = range(max(20, INSTANCES // 20))
POLICIES = ("none; peak-lag", "dec-min; peak-lag", "per-topic; peak-lag")


def heap(seed: int) -> Document:
    """Return two or three members alike, and few partitions with lag on each."""
    rng = Random(seed)  # noqa: S311
    topics = {
        name: {
            "partitions": n,
            "lag": [rng.choice((0, rng.randint(1, 30))) for _ in range(n)],
        }
        for name, n in (("t", rng.randint(2, 5)), ("u", rng.randint(0, 2)))
    }
    members = {name: member(["t", "u"]) for name in "abc"[: rng.randint(2, 3)]}
    for one in members.values():
        one["capacity"] = 2 if seed % 3 == 0 else 1
    return rebalance(topics, members)


def largest_peak(setting: Setting) -> int:
    return int(setting.room.lag.sum() * setting.room.unit[0])


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_packed_is_true(seed: int) -> None:
    document = heap(seed)
    brute = Brute(document)
    for setting, policy in zip(
        settings_of(document), ("dec-min", "per-topic", "none"), strict=True
    ):
        if not is_packing(setting):
            continue
        best: Any = (brute.best(f"{policy}; peak-lag") or [0])[0]
        start = largest_peak(setting)
        found = packed(setting, 0, start, Work(limits=Limits()))
        if found.packing is not None:
            assert found.packing.bound <= best
        if found.holder is not None:
            check_allowed(setting, found.holder)
            assert best <= peak_with(setting.room, found.holder) <= start


@pytest.mark.parametrize("seed", SEEDS)
def test_answers_with_little_lag_are_the_best(seed: int) -> None:
    document = heap(seed)
    brute, laid_out = Brute(document), instance(document)
    for policy in POLICIES:
        outcome = solve(laid_out, parse_policy(policy), limits=Limits(effort=20))
        assert [one.value for one in outcome.objectives] == brute.best(policy)
        verdict = verify.judge(
            document, json.loads(to_json(outcome.to_document(laid_out)))
        )
        (told,) = verdict["objectives"]
        assert verdict["verdict"] == "valid"
        assert told["proved"] or told["rests_on"] == "search", told


def test_least_lag_of_a_weight() -> None:
    lags, weights = np.array([9, 7, 5, 5, 3]), np.array([4, 2, 2, 1, 0])
    for wanted in range(1, 10):
        least = min(
            int(lags[list(some)].sum())
            for n in range(1, 6)
            for some in combinations(range(5), n)
            if weights[list(some)].sum() >= wanted
        )
        assert _least(lags, weights, wanted) == least


def test_prices_prove_what_counting_does_not() -> None:
    """Each of 6 and 5 has no more than one 4 beside it; one 4 is left over."""
    lags = np.array([6, 6, 5, 4, 4, 4, 4])
    sets = Sets(lags, 3, Work(limits=Limits()))
    found = sets.prices(11)
    assert found is not None
    value, prices = found
    assert value > 3
    packing = packing_of(lags, prices, 3)
    assert packing.bound > 11
    assert all(weight >= 0 for _, weight in packing.steps)
    assert [x for x, _ in packing.steps] == sorted({x for x, _ in packing.steps})


def test_a_limit_leaves_packing_undone() -> None:
    setting = settings_of(heap(1))[0]
    stopped = Limits(seconds=0)
    found = packed(setting, 0, largest_peak(setting), Work(limits=stopped))
    assert found.holder is None
    assert found.packing is None
