"""Every engine against brute force and the judge, on every policy.

Reaches into `solver` for the type of a value.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import count, islice
from random import Random
from types import MappingProxyType
from typing import Any, Final

import pytest

from rebalance import Instance
from solver import (
    NAMED,
    Limits,
    Policy,
    Result,
    Status,
    cpsat,
    flow_policies,
    milp,
    parse_policy,
    peak_lag,
    solve,
    values_of,
)
from solver import Engine as By
from solver.peak_lag_policies import can_answer
from solver.result import Value
from tests.references.brute import Brute
from tests.solver.flow_policies.routes import ALWAYS, SOMETIMES
from tests.solver.routes import instance, judged
from tests.support import last_drawn
from tests.support.amount import FIRST_SEED, INSTANCES, share
from tests.support.shapes import CHAIN, SHAPES, Document, member, rebalance, shape
from tests.support.snapshots import TESTS
from tests.support.strategies import Limits as Size
from tests.support.strategies import draw_rebalance
from verify import TooLarge

Engine = Callable[[Instance, Policy], Result | None]


def _by_peak_lag(laid_out: Instance, policy: Policy) -> Result | None:
    if not can_answer(policy):
        return None
    return peak_lag.solve(laid_out, policy, limits=Limits())


ENGINES: Final[Mapping[str, Engine]] = MappingProxyType(
    {
        "cp-sat": lambda laid_out, policy: cpsat.solve(
            laid_out, policy, limits=Limits()
        ),
        "highs": lambda laid_out, policy: milp.solve(laid_out, policy, limits=Limits()),
        "flow": flow_policies.solve,
        "peak-lag": _by_peak_lag,
        "auto": solve,
    }
)
"""Engines; None: the engine does not accept the policy."""

POLICIES: Final = (
    *NAMED,
    "dec-min; rack, stickiness; max-moves=1",
    "dec-min; 3*lag-spread + 2*topic-peak-lag + lag-deviation",
    "dec-min; per-topic-spread, load, rack + stickiness",
    "kip54; load, stickiness; max-moves=2",
    "kip54; peak-lag, rack",
    "kip54; per-topic-spread, stickiness, load",
    "per-topic; stickiness + 2*rack, load",
    "per-topic; topic-peak-lag, stickiness; max-moves=1",
    "per-topic; lag-spread, rack",
    "spread=0; load",
    "spread=1; stickiness, load, peak-lag; max-moves=2",
    "spread=2; 2*stickiness + rack + 3*per-topic-spread",
    "none; load, lag-deviation; max-moves=1",
    "none; peak-lag, load, stickiness",
    "none; lag-spread, load",
    "none; per-topic-spread, topic-peak-lag; max-moves=0",
)
"""Every balance and objective, in several orders, sums and budgets among them."""

MORE: Final = MappingProxyType(
    {
        "auto": (
            "none; peak-lag; max-moves=1",
            "none; peak-lag, stickiness; max-moves=2",
            "per-topic; peak-lag, stickiness; max-moves=3",
            "dec-min; peak-lag; max-moves=0",
            "dec-min; peak-lag, stickiness; max-moves=4",
        ),
        "peak-lag": (
            "dec-min; peak-lag",
            "none; peak-lag",
            "none; peak-lag, lag-spread",
            "per-topic; peak-lag, stickiness",
            "per-topic; peak-lag, lag-spread, lag-deviation",
            "dec-min; peak-lag, lag-deviation, stickiness",
            "dec-min; stickiness, peak-lag, lag-spread",
            "per-topic; topic-peak-lag",
            "none; topic-peak-lag",
        ),
        "flow": (*ALWAYS, *SOMETIMES),
    }
)
"""Policies of one engine."""

ONE_IN: Final = MappingProxyType(
    {"auto": 100, "cp-sat": 400, "highs": 400, "flow": 100, "peak-lag": 100}
)
"""One of so many instances of a quick run: an engine that is fast has more."""

MET: Final = {"balance_met": True, "budget_met": True}

SHARE: Final = MappingProxyType({"highs": Fraction(3, 10)})
"""Share of the instances in the long run, of engines that answer only on request."""

SIZES: Final = (
    Size(members=3, topics=3, partitions=2),
    Size(members=4, topics=3, partitions=2),
    Size(members=3, topics=2, partitions=3),
)
DEALS: Final = 10
"""Number of parts of the long run, so that several workers share it."""


@pytest.mark.parametrize("engine", ENGINES)
def test_engines_agree_on_a_sample(engine: str) -> None:
    wanted = max(10, share(ONE_IN[engine], 25 * ONE_IN[engine]))
    documents = islice(drawn(FIRST_SEED), wanted)
    answered = set().union(*(check(engine, document) for document in documents))
    assert answered >= {*MORE.get(engine, ())}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", SHAPES)
def test_engines_agree_on_named_shapes(name: str, engine: str) -> None:
    check(engine, with_lags(shape(name), Random(name)))  # noqa: S311


@pytest.mark.heavy
@pytest.mark.parametrize("deal", range(1, DEALS + 1))
@pytest.mark.parametrize("engine", ENGINES)
def test_engines_agree_on_many(engine: str, deal: int) -> None:
    """With ORACLE_INSTANCES=50000 it is 1,000 instances per policy, 300 with HiGHS.

    No answer comes from HiGHS unless it is asked for, and `test_solve_milp` compares it
    with brute force as well, with lags of any size.
    """
    wanted = max(1, SHARE.get(engine, 1) * INSTANCES // 50 // DEALS)
    for document in islice(drawn(FIRST_SEED + deal), wanted):
        check(engine, document)


BUGS = json.loads((TESTS / "data" / "engine_bugs.json").read_bytes())
"""Where an engine, or a program that it runs, was wrong; of all engines, or of some."""


@pytest.mark.parametrize(
    ("engine", "name"),
    [(engine, name) for name in BUGS for engine in BUGS[name].get("engines", ENGINES)],
)
def test_bug_an_engine_missed_the_best(engine: str, name: str) -> None:
    bug = BUGS[name]
    check(engine, rebalance(bug["topics"], bug["members"]), bug["policies"])


OWNED = rebalance(
    {"t": 4},
    {"a": member(["t"], {"t": [0, 1, 2, 3]}), "b": member(["t"]), "c": member(["t"])},
)
UNEVEN = rebalance({"t": 5, "u": 1}, {"a": member(["t"]), "b": member(["u"])})
FRACTIONS = rebalance(
    {"t": 4}, {"a": member(["t"], capacity=2), "b": member(["t"], capacity=3)}
)


@pytest.mark.parametrize(
    ("engine", "document", "policy", "reason"),
    [
        (By.CP_SAT, OWNED, "spread=0; max-moves=0", "no assignment has loads at "),
        (By.CP_SAT, OWNED, "spread=0", "most 0 apart; the least spread is 1"),
        (By.CP_SAT, FRACTIONS, "spread=0", "÷ capacity at most 0 apart; the least"),
        (By.CP_SAT, FRACTIONS, "spread=0", "the least spread is 1/3"),
        (By.CP_SAT, OWNED, "dec-min; load; max-moves=1", "to a dec-min assignment"),
        (By.CP_SAT, OWNED, "kip54; load; max-moves=1", " balanced by KIP-54 are 2"),
        (By.CP_SAT, OWNED, "per-topic; max-moves=0", "within each topic are 2, m"),
        (By.CP_SAT, OWNED, "spread=2; max-moves=0", "most 2 apart are 2, more th"),
        (By.HIGHS, OWNED, "spread=0", "differ by 1 or more"),
        (By.HIGHS, CHAIN, "dec-min; max-moves=2", "every one moves 3 or more"),
        (By.AUTO, CHAIN, "dec-min; peak-lag; max-moves=2", "assignment are 3; max"),
        (By.AUTO, CHAIN, "dec-min; stickiness; max-moves=2", "-moves allows 2"),
        (By.AUTO, OWNED, "per-topic; load; max-moves=1", "a per-topic assignment"),
        (
            By.AUTO,
            UNEVEN,
            "spread=3; stickiness",
            "assignment is 4; spread=3 as",
        ),
    ],
)
def test_what_cannot_be_reached_is_stated_with_the_least_there_is(
    engine: By, document: Document, policy: str, reason: str
) -> None:
    topics = {
        name: topic | {"lag": [0] * topic["partitions"]}
        for name, topic in document["topics"].items()
    }
    outcome = solve(instance(document | {"topics": topics}), policy, engine=engine)
    assert outcome.status is Status.INFEASIBLE
    assert outcome.assignment is None
    assert reason in str(outcome.reason)


def drawn(start: int) -> Iterator[Document]:
    """Draw rebalances that leave a choice; the same ones for the same start."""
    rng = Random(start)  # noqa: S311
    for place in count():
        document = draw_rebalance(rng, rng.choice(SIZES))
        wanted = [
            set(member["subscription"]) for member in document["members"].values()
        ]
        choices = sum(
            topic["partitions"]
            for name, topic in document["topics"].items()
            if sum(name in topics for topics in wanted) > 1
        )
        if choices > 1:
            yield last_drawn.note(with_lags(document, rng), f"{start}, draw {place}")


def with_lags(document: Document, rng: Random) -> Document:
    """Give every topic lags that every engine can add up."""
    document = copy.deepcopy(document)
    top = rng.choice((1, 3, 10, 1_000, 100_000))
    for topic in document["topics"].values():
        if "lag" not in topic or max(topic["lag"], default=0) > 100_000:
            topic["lag"] = [rng.randint(0, top) for _ in range(topic["partitions"])]
    return document


def check(
    engine: str, document: Document, policies: Sequence[str] | None = None
) -> set[str]:
    """Assert that an engine's status and values are those of brute force.

    The judge adds up every value, and accepts every proof that is not a search. Return
    the policies that the engine has answered.
    """
    answered: set[str] = set()
    try:
        brute = Brute(document)
    except TooLarge:
        return answered
    laid_out = instance(document)
    for text in policies or (*POLICIES, *MORE.get(engine, ())):
        policy = parse_policy(text)
        if policy.needs_lag and laid_out.lag is None:
            continue  # without topics there is nobody to tell any
        outcome = ENGINES[engine](laid_out, policy)
        if outcome is None:
            assert engine != "flow" or text not in ALWAYS, text
            continue
        answered.add(text)
        best = brute.best(str(policy))
        about = (engine, text, document, outcome.reason)
        if best is None:
            _check_infeasible(document, outcome, about)
            continue
        assert outcome.status is Status.OPTIMAL, about
        assert _listed(objective.value for objective in outcome.objectives) == _listed(
            best
        ), about
        assert all(objective.is_proved for objective in outcome.objectives), about
        assert outcome.assignment is not None
        counted = values_of(laid_out, outcome.assignment, policy)
        assert _listed(counted) == _listed(best), about
        _check_verdict(document, outcome, policy, about)
    return answered


def _check_verdict(
    document: Document, outcome: Result, policy: Policy, about: object
) -> None:
    verdict = judged(document, outcome)
    assert verdict["verdict"] == "valid", about
    assert verdict["policy"] == {"of": str(policy)} | MET, about
    for objective in verdict["objectives"]:
        assert "evidence" not in objective, about
        assert objective["proved"] == (objective["rests_on"] != "search"), about


def _check_infeasible(document: Document, outcome: Result, about: object) -> None:
    assert outcome.status is Status.INFEASIBLE, about
    assert outcome.assignment is None, about
    assert outcome.reason, about
    found = judged(document, outcome)["evidence"]["status"]
    assert "refuted" not in found, about
    assert found["reason"] == outcome.reason, about


def _listed(values: Any) -> list[Value]:
    return [tuple(v) if isinstance(v, list | tuple) else v for v in values]
