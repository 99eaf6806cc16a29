"""One door to all engines: what it refuses, recounts, and passes on."""

from __future__ import annotations

import math
from dataclasses import replace
from types import MappingProxyType

import pytest

from benchmarks.lags import group
from rebalance import Instance, InstanceError, plain_of, to_json
from solver import (
    DEFAULT_EFFORT,
    NAMED,
    Engine,
    Limits,
    MiscountError,
    Policy,
    Result,
    Status,
    engines,
    limits,
    parse_policy,
    solve,
)
from tests.solver.routes import instance
from tests.support.amount import seeds
from tests.support.shapes import (
    CHAIN,
    NO_MEMBERS,
    NO_PARTITIONS,
    NO_TOPICS,
    NOTHING,
    Document,
    member,
    rebalance,
)
from tests.support.strategies import LARGER, TINY, seeded_rebalance
from verify import judge

ABSENT = member(["u"])  # a topic that does not exist
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
    found = [(objective.value, objective.bound) for objective in outcome.objectives]
    assert found == [
        (objective.value, objective.bound) for objective in first.objectives
    ]


@pytest.mark.parametrize("engine", Engine)
@pytest.mark.parametrize(
    "text", ["load", "none; load", "spread=0; rack, load", "kip54"]
)
@pytest.mark.parametrize(
    "document",
    [NOTHING, NO_MEMBERS, NO_TOPICS, NO_PARTITIONS, rebalance({"t": 1}, {"a": ABSENT})],
)
def test_bug_what_is_optimal_without_members_in_play_is_proved(
    document: Document, text: str, engine: Engine
) -> None:
    """Once, HiGHS's answer to these had no proof."""
    laid_out = instance(document)
    outcome = solve(laid_out, parse_policy(text), engine=engine)
    assert outcome.status is Status.OPTIMAL
    verdict = judge(document, plain_of(outcome.to_document(laid_out)))
    assert verdict["verdict"] == "valid"
    assert all(objective["proved"] for objective in verdict["objectives"])
    assert [objective["of"] for objective in verdict["objectives"]] == [
        str(objective) for objective in outcome.policy.objectives
    ]


@pytest.mark.parametrize("engine", Engine)
def test_bug_without_limits_every_search_ends_at_the_same_step(
    monkeypatch: pytest.MonkeyPatch, engine: Engine
) -> None:
    """Once, searches that prove nothing went on for good."""
    monkeypatch.setattr(limits, "DEFAULT_EFFORT", 0.1)
    laid_out = group("uniform", partitions=40, members=8, topics=2, seed=0)
    policy = parse_policy("none; topic-peak-lag, lag-deviation")
    once, again = (solve(laid_out, policy, engine=engine) for _ in range(2))
    assert once.status is Status.FEASIBLE
    assert once.reason == "effort limit of 0.1"
    assert to_json(once.to_document(laid_out)) == to_json(again.to_document(laid_out))


def test_the_default_effort_is_for_those_who_set_no_limit() -> None:
    assert Limits().with_default_effort().effort == DEFAULT_EFFORT
    assert Limits(memory=1).with_default_effort().effort == DEFAULT_EFFORT
    assert Limits(seconds=5).with_default_effort().effort is None
    assert Limits(effort=2).with_default_effort().effort == 2
    assert Limits(effort=math.inf).with_default_effort().effort == math.inf


@pytest.mark.parametrize("engine", Engine)
def test_an_infinite_effort_is_no_limit(engine: Engine) -> None:
    outcome = solve(
        instance(LAGGING),
        NAMED["lag-sticky"],
        limits=Limits(effort=math.inf),
        engine=engine,
    )
    assert outcome.status is Status.OPTIMAL


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
    assert {objective.value for objective in outcome.objectives} == {0}


@pytest.mark.parametrize("policy", ["sticky", "none; load, per-topic-spread, rack"])
@pytest.mark.parametrize("engine", Engine)
def test_order_of_names_never_shows(policy: str, engine: Engine) -> None:
    for seed in seeds(40 if engine is Engine.AUTO else 3):
        document = seeded_rebalance(seed, LARGER if policy == "sticky" else TINY)
        turned = document | {
            part: dict(reversed(document[part].items()))
            for part in ("topics", "members")
        }
        for entry in turned["members"].values():
            entry["subscription"] = entry["subscription"][::-1]
        texts = [
            to_json(solve(laid_out, policy, engine=engine).to_document(laid_out))
            for laid_out in map(instance, (document, turned))
        ]
        assert texts[0] == texts[1]
