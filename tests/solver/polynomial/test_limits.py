"""Too little time for a flow with racks: the stickiest, and bounds that hold."""

from __future__ import annotations

from threading import Event

import pytest

from solver import Status, polynomial
from solver.limits import Limits
from solver.policy import parse_policy
from tests.solver.brute import Brute
from tests.solver.polynomial.routes import ALWAYS, drawn, judged
from tests.solver.routes import instance
from verify.enumerate import TooLarge


@pytest.mark.parametrize("stopped", [False, True])
def test_bounds_hold_and_the_judge_agrees(*, stopped: bool) -> None:
    statuses = dict.fromkeys(Status, 0)
    for seed in range(25):
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
            outcome = polynomial.solve(instance(document), policy, limits=limits)
            assert outcome is not None
            statuses[outcome.status] += 1
            best = brute.best(text)
            assert best is not None
            verdict = judged(document, outcome)
            assert verdict["policy"]["balance_met"]
            assert "certificate" not in verdict["evidence"]
            assert "status" not in verdict["evidence"]
            for one, level in zip(
                outcome.objectives, verdict["objectives"], strict=True
            ):
                assert "evidence" not in level, (text, level)
                assert level["proved"] == one.is_proved
            if outcome.status is Status.FEASIBLE:
                struck = "interrupted" if stopped else "time limit of 0 s"
                assert outcome.reason == struck
            for one, least in zip(outcome.objectives, best, strict=True):
                bound = list(one.bound) if isinstance(one.bound, tuple) else one.bound
                assert bound <= least  # type: ignore[operator]
                if not one.is_proved:
                    break
    assert statuses[Status.FEASIBLE] > 20
    assert statuses[Status.OPTIMAL] > 20
    assert statuses[Status.UNKNOWN] == statuses[Status.INFEASIBLE] == 0
