"""CP-SAT and local search alternate, with doubling effort, until a proof or a limit.

Reaches into `solver.peak_lag` and replaces `solver.cpsat.solve`, to see when it is
called and what a refusal leads to.
"""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.uniform_lags import group
from rebalance import InstanceError
from solver import Limits, Result, Status, cpsat, parse_policy
from solver.peak_lag import alternate, solve
from tests.solver.peak_lag.settings import lagging
from tests.solver.routes import instance, judged
from tests.support.strategies import LARGER

HARD = group(60, 10, homogeneous=False, capacities=True, seed=0)
"""Ten capacities and subscriptions: no bound meets the peak in a few seconds."""


@pytest.mark.heavy
def test_effort_doubles_and_the_limit_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    efforts: list[float] = []
    search = cpsat.solve

    def recorded(*given: Any, limits: Limits, spent: float, **rest: Any) -> Result:
        assert limits.effort is not None
        efforts.append(limits.effort - spent)
        return search(*given, limits=limits, spent=spent, **rest)

    monkeypatch.setattr(cpsat, "solve", recorded)
    monkeypatch.setattr(alternate, "FIRST_SEARCH", 0.05)
    result = solve(HARD, parse_policy("none; peak-lag"), limits=Limits(effort=1))
    assert result.status is Status.FEASIBLE
    assert result.reason == "effort limit of 1"
    building = efforts[0] - 0.05  # counts against the limit, besides the search
    assert 0 < building < 0.05
    assert efforts[1] == pytest.approx(0.1 + building)
    assert sum(efforts) < 1


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("policy", ["none; peak-lag", "dec-min; peak-lag, stickiness"])
def test_without_cp_sat_a_valid_answer_remains(
    policy: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Any, **__: Any) -> Result:
        raise InstanceError("sums that exceed the integers of cp-sat", subject="g")

    document = lagging(seed, LARGER)
    best = solve(instance(document), parse_policy(policy), limits=Limits(effort=2))
    monkeypatch.setattr(cpsat, "solve", refused)
    result = solve(instance(document), parse_policy(policy), limits=Limits(effort=0.5))
    verdict = judged(document, result)
    assert verdict["verdict"] == "valid"
    assert verdict.get("status", {}).get("found") != "refuted"
    found, least = result.objectives[0], best.objectives[0]
    assert isinstance(found.bound, int)
    assert isinstance(least.value, int)
    assert found.bound <= least.value
