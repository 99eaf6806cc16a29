"""One door to all engines: what it refuses, recounts, and passes on."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import pytest

from rebalance import Instance, InstanceError
from solver import (
    NAMED,
    Engine,
    Limits,
    MiscountError,
    Policy,
    Result,
    Status,
    engines,
    parse_policy,
    solve,
)
from tests.shapes import CHAIN, member, rebalance
from tests.solver.routes import instance

LAGGING = rebalance(
    {"t": {"partitions": 3, "lag": [100_000, 60_000, 50_000]}},
    {"a": member(["t"], {"t": [0, 1]}, 1), "b": member(["t"], {}, 1)},
)


@pytest.mark.parametrize("engine", Engine)
@pytest.mark.parametrize("name", NAMED)
def test_every_engine_answers_every_named_policy_alike(
    name: str, engine: Engine
) -> None:
    laid_out = instance(LAGGING)
    first = solve(laid_out, NAMED[name])
    outcome = solve(laid_out, NAMED[name], engine=engine)
    assert outcome.status is Status.OPTIMAL
    assert outcome.policy == NAMED[name]
    found = [(one.value, one.bound) for one in outcome.objectives]
    assert found == [(one.value, one.bound) for one in first.objectives]


def test_missing_lag_is_named() -> None:
    with pytest.raises(InstanceError, match="needs lag for lag-spread"):
        solve(instance(CHAIN), parse_policy("rack, lag-spread"))


@pytest.mark.parametrize(
    "policy", ["lag-deviation", "2147483647*peak-lag + 2147483647*stickiness"]
)
def test_sums_past_64_bits_are_refused_by_name(policy: str) -> None:
    large = rebalance(
        {"t": {"partitions": 2, "lag": [2**62, 2**61]}},
        {name: member(["t"]) for name in ("a", "b", "c")},
    )
    with pytest.raises(InstanceError, match="past 2\\^63 - 1") as caught:
        solve(instance(large), parse_policy(policy))
    assert policy in str(caught.value)


def test_an_engine_that_miscounts_is_not_believed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def boasting(laid_out: Instance, policy: Policy, limits: Limits) -> Result:
        outcome = known[Engine.AUTO](laid_out, policy, limits)
        (one,) = outcome.objectives
        return replace(outcome, objectives=(replace(one, value=0, bound=0),))

    known = dict(engines.ENGINES)
    monkeypatch.setattr(engines, "ENGINES", MappingProxyType({Engine.AUTO: boasting}))
    with pytest.raises(MiscountError):
        solve(instance(CHAIN), parse_policy("dec-min; 2*stickiness"))


def test_a_limit_is_no_exception() -> None:
    outcome = solve(
        instance(LAGGING), parse_policy("kip54; lag-spread"), limits=Limits(seconds=0)
    )
    assert outcome.status in {Status.FEASIBLE, Status.UNKNOWN}
    assert outcome.reason


@pytest.mark.parametrize("engine", Engine)
@pytest.mark.parametrize("text", ["lag-aware", "sticky-lag", "kip54; lag-deviation"])
def test_without_partitions_no_lag_is_missing(text: str, engine: Engine) -> None:
    """Without partitions, every lag is 0."""
    document = rebalance({"t": 0}, {"a": member(["t"]), "b": member([])})
    outcome = solve(instance(document), parse_policy(text), engine=engine)
    assert outcome.status is Status.OPTIMAL
    assert {one.value for one in outcome.objectives} == {0}
