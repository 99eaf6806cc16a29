"""Too little time for a flow with racks: the stickiest, and bounds that hold."""

from __future__ import annotations

from threading import Event

import pytest

from solver import (
    BalanceKind,
    Limits,
    Objective,
    ObjectiveResult,
    Result,
    Status,
    flow_policies,
    parse_policy,
    values_of,
)
from tests.references.brute import Brute
from tests.solver.flow_policies.routes import ALWAYS, drawn, laid_out
from tests.solver.routes import judged
from tests.support.amount import seeds, share
from tests.support.shapes import Document
from verify import TooLarge


def stickiest_bound(document: Document, found: Result, result: ObjectiveResult) -> int:
    """Return what the stickiest assignment proves of an objective on its face.

    That is the cost of its moves, or nothing if objectives before ``load`` have
    restricted the face.
    """
    is_free = found.policy.balance.kind is BalanceKind.NONE
    if is_free and found.policy.objectives[0].only is not Objective.LOAD:
        return 0
    assert found.assignment is not None
    stickiness = parse_policy("none; stickiness")
    (moves,) = values_of(laid_out(document), found.assignment, stickiness)
    assert isinstance(moves, int)
    weights = {measure: weight for weight, measure in result.of.terms}
    return weights.get(Objective.STICKINESS, 0) * moves


def _check_bounds(document: Document, outcome: Result, brute: Brute, text: str) -> None:
    """Assert that bounds are at most the optimum, until one is not proved."""
    best = brute.best(text)
    assert best is not None
    for objective, least in zip(outcome.objectives, best, strict=True):
        bound = (
            list(objective.bound)
            if isinstance(objective.bound, tuple)
            else objective.bound
        )
        assert bound <= least  # type: ignore[operator]
        if not objective.is_proved:
            assert bound == stickiest_bound(document, outcome, objective), text
            break


@pytest.mark.parametrize("stopped", [False, True])
def test_bounds_hold_and_the_judge_agrees(*, stopped: bool) -> None:
    statuses = dict.fromkeys(Status, 0)
    for seed in seeds(max(10, share(80, 2000))):
        document = drawn(seed)
        try:
            brute = Brute(document)
        except TooLarge:
            continue
        for text in ALWAYS:
            stop = Event()
            if stopped:
                stop.set()
            limits = Limits(seconds=None if stopped else 0.0, stop=stop)
            policy = parse_policy(text)
            outcome = flow_policies.solve(laid_out(document), policy, limits=limits)
            assert outcome is not None
            statuses[outcome.status] += 1
            verdict = judged(document, outcome)
            assert verdict["policy"]["balance_met"]
            assert "certificate" not in verdict["evidence"]
            assert "status" not in verdict["evidence"]
            for objective, level in zip(
                outcome.objectives, verdict["objectives"], strict=True
            ):
                assert "evidence" not in level, (text, level)
                assert level["proved"] == objective.is_proved
            if outcome.status is Status.FEASIBLE:
                struck = "interrupted" if stopped else "time limit of 0 s"
                assert outcome.reason == struck
            _check_bounds(document, outcome, brute, text)
    assert statuses[Status.FEASIBLE] > 20
    assert statuses[Status.OPTIMAL] > 20
    assert statuses[Status.UNKNOWN] == statuses[Status.INFEASIBLE] == 0
