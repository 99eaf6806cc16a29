"""Policies of peak lag and a budget: against brute force, and judged."""

from __future__ import annotations

import json
from random import Random

import pytest

import verify
from rebalance import to_json
from solver import solve
from solver.budget import NAME, can_answer
from solver.limits import Limits
from solver.milp import is_allowed
from solver.policy import parse_policy
from solver.result import Status
from tests.solver.brute import Brute
from tests.solver.budget.test_choice import SIZE, drawn
from tests.solver.routes import INSTANCES, instance
from tests.solver.test_engines_agree import with_lags
from tests.strategies import seeded_rebalance
from verify.enumerate import TooLarge

POLICIES = (
    "none; peak-lag; max-moves={}",
    "none; peak-lag, stickiness; max-moves={}",
    "per-topic; peak-lag, stickiness; max-moves={}",
    "dec-min; peak-lag, stickiness; max-moves={}",
)


@pytest.fixture
def hands_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let CP-SAT find something and prove nothing."""
    monkeypatch.setattr("solver.budget.engine._FIRST_EFFORT", 1e-9)


@pytest.mark.usefixtures("hands_only")
@pytest.mark.parametrize("text", POLICIES)
def test_agrees_with_brute_force_and_is_judged(text: str) -> None:
    rng = Random(text)  # noqa: S311
    by_hands = 0
    for seed in range(max(60, INSTANCES // 50)):
        document = with_lags(seeded_rebalance(seed, SIZE), rng)
        policy = parse_policy(text.format(rng.randint(0, 6)))
        try:
            best = Brute(document).best(str(policy))
        except TooLarge:
            continue
        laid_out = instance(document)
        outcome = solve(laid_out, policy, limits=Limits())
        if best is None:
            assert outcome.status is Status.INFEASIBLE
            continue
        assert outcome.status is Status.OPTIMAL
        assert [one.value for one in outcome.objectives] == best
        assert outcome.assignment is not None
        assert is_allowed(laid_out, policy, outcome.assignment)
        written = json.loads(to_json(outcome.to_document(laid_out)))
        verdict = verify.judge(document, written)
        assert verdict["verdict"] == "valid"
        assert "refuted" not in json.dumps(verdict["evidence"])
        by_hands += NAME in json.dumps(verdict["objectives"])
    assert by_hands > 2


def test_what_cp_sat_leaves_open_is_settled() -> None:
    """Uniform lags, thirty partitions: CP-SAT would look for hours."""
    policy = parse_policy("none; peak-lag, stickiness; max-moves=9")
    outcome = solve(instance(drawn(2, 30, 6)), policy)
    assert outcome.status is Status.OPTIMAL
    proofs = [one.to_document().proof for one in outcome.objectives]
    assert {getattr(one, "engine", None) for one in proofs} == {NAME}


def test_others_are_left_to_others() -> None:
    for text in (
        "none; peak-lag",
        "kip54; peak-lag; max-moves=3",
        "none; stickiness, peak-lag; max-moves=3",
        "none; peak-lag, load; max-moves=3",
        "none; 2*peak-lag + stickiness; max-moves=3",
        "dec-min; max-moves=3",
    ):
        assert not can_answer(parse_policy(text))
