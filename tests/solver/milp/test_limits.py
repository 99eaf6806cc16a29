"""Programs that are not written, or not begun; see also `tests.solver.test_limits`."""

from __future__ import annotations

import gc

import pulp
import pytest

from solver import Limits, Status, parse_policy
from solver.milp import objective_rows, solve, solve_milp
from solver.milp.counted_limits import CountedLimits
from tests.solver.milp.cases import answer, knotty
from tests.solver.routes import instance, lagging


def test_no_program_is_built_after_a_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def policy_program(*_: object) -> None:
        raise AssertionError("written all the same")

    monkeypatch.setattr(solve_milp, "policy_program", policy_program)
    limits = Limits()
    limits.stop.set()
    policy = parse_policy("dec-min; stickiness")
    outcome = solve(instance(knotty()), policy, limits=limits)
    assert outcome.assignment is not None
    assert outcome.reason == "interrupted"


@pytest.mark.parametrize("most", ["STEPS_MAX", "ENTRIES_MAX"])
def test_rows_of_steps_are_not_written_without_bound(
    monkeypatch: pytest.MonkeyPatch, most: str
) -> None:
    monkeypatch.setattr(objective_rows, most, 10)
    outcome = solve(
        instance(knotty()), parse_policy("none; stickiness, load"), limits=Limits()
    )
    assert outcome.status is Status.FEASIBLE
    assert "unary steps" in str(outcome.reason)


@pytest.mark.parametrize(
    "text", ["kip54; load", "none; load", "lag-aware", "dec-min; peak-lag"]
)
@pytest.mark.parametrize("partitions", [40, 400])
def test_building_counts_as_effort(
    monkeypatch: pytest.MonkeyPatch, text: str, partitions: int
) -> None:
    """The limit is reached before HiGHS begins, at every place of the program."""
    monkeypatch.setattr(pulp.HiGHS, "callSolver", None)
    document = lagging(*range(partitions), members=7)
    outcome = solve(
        instance(document), parse_policy(text), limits=Limits(effort=1e-5 * partitions)
    )
    assert outcome.status is Status.FEASIBLE
    assert str(outcome.reason).startswith("effort limit of ")


def test_effort_is_spent_by_all_runs_together() -> None:
    limits = CountedLimits.of(Limits(effort=1.0))
    limits.spend_on_entries(90_000)
    assert limits.exceeded() is None
    limits.spend_on_step(100, is_iteration=True)
    assert limits.exceeded() is None
    for _ in range(100):
        limits.spend_on_step(100, is_iteration=False)
    assert limits.exceeded() == "effort limit of 1"


def test_too_large_is_not_begun() -> None:
    document = lagging(*range(2000), members=100)
    outcome = solve(instance(document), parse_policy("lag-aware"), limits=Limits())
    assert outcome.status is Status.FEASIBLE
    assert "too large" in str(outcome.reason)
    assert outcome.objectives[0].bound == 0


def test_no_solver_is_left_in_memory() -> None:
    """HiGHS, its callback and the program could hold each other for good."""
    for _ in range(3):
        answer(lagging(5, 4, 3), "none; peak-lag, stickiness")
    gc.collect()
    kept = [
        object_
        for object_ in gc.get_objects()
        if type(object_).__name__ == "HighsCallback"
    ]
    assert not kept
