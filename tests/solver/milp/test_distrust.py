"""A solver that errs: rounding, bounds too high, wrong statuses, large numbers.

`highs`, `rounded`, `safe_bound` and `MilpProgram` are inner names: wrong answers of the
solver can be made up nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from random import Random

import pulp
import pytest
from pulp import LpStatusInfeasible, LpStatusOptimal

from solver import Status, no_balance, parse_policy
from solver.milp import highs
from solver.milp.constraint_rows import policy_program
from solver.milp.counted_limits import CountedLimits
from solver.milp.highs import SearchRun
from solver.milp.lexicographic_milp import rounded, safe_bound
from solver.milp.milp_program import ROW_MAX, MilpProgram, magnitude
from solver.milp.partition_classes import milp_instance
from tests.references.brute import best_values
from tests.solver.milp.cases import answer, values
from tests.solver.routes import instance, lagging
from tests.support.shapes import shape

Fake = Callable[[SearchRun], SearchRun]
FIVES = (5, 5, 5, 6)  # peak of three members: 10; the linear relaxation states 7


@pytest.fixture
def doctored(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let a fake change what HiGHS states of integer programs."""
    minimize = highs.minimize

    def doctor(fake: Fake, *, relaxations: bool = False) -> None:
        def fake_minimize(
            problem: pulp.LpProblem,
            limits: CountedLimits,
            *,
            mip: bool = True,
            presolve: bool,
        ) -> SearchRun:
            run = minimize(problem, limits, mip=mip, presolve=presolve)
            return fake(run) if mip or relaxations else run

        monkeypatch.setattr(highs, "minimize", fake_minimize)

    return doctor


def test_undoctored() -> None:
    outcome = answer(lagging(*FIVES, members=3), "none; peak-lag")
    assert outcome.status is Status.OPTIMAL
    assert values(outcome) == [10]


@pytest.mark.parametrize("shift", [0.4, 1e-3, 1e-7])
def test_a_bound_within_half_proves_no_more(
    doctored: Callable[..., None], shift: float
) -> None:
    """The bound before the last, plus a bit: rounding it up would be a proof."""
    bound = 10 - 1 - shift
    doctored(lambda _: SearchRun(status=LpStatusOptimal, bound=bound))
    outcome = answer(lagging(*FIVES, members=3), "none; peak-lag")
    assert outcome.objectives[0].bound <= 10  # type: ignore[operator]
    assert outcome.status is not Status.OPTIMAL
    assert outcome.reason


def test_a_bound_above_a_known_value_is_rejected(
    doctored: Callable[..., None],
) -> None:
    doctored(lambda _: SearchRun(status=LpStatusOptimal, bound=1e6))
    outcome = answer(lagging(*FIVES, members=3), "none; peak-lag")
    assert outcome.status is Status.FEASIBLE
    (reached,) = outcome.objectives
    assert reached.bound < reached.value  # type: ignore[operator]
    assert "exact recount" in str(outcome.reason)


def test_infeasible_is_rejected_where_a_solution_is_known(
    doctored: Callable[..., None],
) -> None:
    doctored(lambda _: SearchRun(status=LpStatusInfeasible), relaxations=True)
    outcome = answer(lagging(*FIVES, members=3), "none; peak-lag")
    assert outcome.status is Status.FEASIBLE
    for text in ("dec-min; stickiness; max-moves=2", "kip54; max-moves=0"):
        outcome = answer(shape("CHAIN"), text)
        assert outcome.status is Status.UNKNOWN  # infeasible, but who says so?


@pytest.mark.parametrize("bound", [float("nan"), float("inf"), float("-inf"), -1e308])
def test_bounds_that_are_none(doctored: Callable[..., None], bound: float) -> None:
    doctored(lambda _: SearchRun(status=LpStatusOptimal, bound=bound))
    outcome = answer(lagging(*FIVES, members=3), "none; peak-lag")
    assert outcome.status is Status.FEASIBLE
    assert outcome.objectives[0].bound >= 0  # type: ignore[operator]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda x: x / 2,
        lambda x: x + 0.01,
        lambda x: 1 - x,
        lambda _: float("nan"),
        lambda _: 1e300,
        lambda x: -x,
    ],
)
def test_values_off_are_no_answer(
    doctored: Callable[..., None], spoil: Callable[[float], float]
) -> None:
    """A solver's assignment that is none is dropped; the start stays the answer."""

    def fake(run: SearchRun) -> SearchRun:
        spoilt = {name: spoil(x) for name, x in (run.values or {}).items()}
        return SearchRun(status=LpStatusOptimal, values=spoilt)

    doctored(fake)
    outcome = answer(lagging(*FIVES, members=3), "none; peak-lag")
    assert outcome.status is Status.FEASIBLE
    assert outcome.assignment is not None


def test_rounding() -> None:
    """Nearly integers are taken; fractions, sums and signs that are off are not."""
    case = milp_instance(instance(lagging(3, 2)), parse_policy("none; peak-lag"))
    program = policy_program(case, CountedLimits(), no_balance)
    right = {var.name: float(c == 0) for (_, c), var in program.given.items()}
    run = SearchRun(
        status=LpStatusOptimal, values={k: v + 1e-7 for k, v in right.items()}
    )
    found = rounded(program, run)
    assert found is not None
    assert found.assignee.tolist() == [0, 0]
    first = next(iter(right))
    for wrong in (0.5, 2.0, -1.0, float("nan"), float("inf"), 1e300):
        spoilt = replace(run, values={**right, first: wrong})
        assert rounded(program, spoilt) is None
    assert rounded(program, replace(run, values=None)) is None


def test_bounds_are_rounded_the_safe_way() -> None:
    run = SearchRun(status=LpStatusOptimal)
    assert safe_bound(run) is None
    for bound, safe in (
        (5.0, 5),
        (5.001, 5),
        (4.999, 5),
        (5.1, 6),
        (4.5, 5),
        (-1.0, -1),
    ):
        assert safe_bound(replace(run, bound=bound)) == safe
    for bound in (float("nan"), float("inf"), float("-inf")):
        assert safe_bound(replace(run, bound=bound)) is None


@pytest.mark.parametrize("seed", range(12))
def test_a_split_row_admits_the_same_values(seed: int) -> None:
    """A row of large numbers against its definition, in every point of a box."""
    rng = Random(seed)  # noqa: S311
    top = 10 ** rng.choice((7, 9, 14, 30))
    factors = [rng.randint(-top, top) for _ in range(3)]
    case = milp_instance(instance(lagging(1)), parse_policy("none; peak-lag"))
    for point in product(range(3), repeat=3):
        exact = sum(a * n for a, n in zip(factors, point, strict=True))
        for most in (exact - 1, exact):
            program = MilpProgram(case, CountedLimits())
            columns = [program.integer(0, 2) for _ in point]
            parts = zip(factors, columns, strict=True)
            program.at_most(pulp.lpSum(a * x for a, x in parts), most)
            for column, n in zip(columns, point, strict=True):
                program.equal(1 * column, n)
            rows = program.problem.constraints()
            assert all(magnitude(row.expr) <= 2 * ROW_MAX for row in rows)
            run = highs.minimize(program.problem, CountedLimits(), presolve=False)
            assert (run.status == LpStatusOptimal) == (most == exact)


@pytest.mark.parametrize("top", [10**9, 10**14, 10**15, (2**63 - 1) // 3])
def test_huge_lags_are_solved(top: int) -> None:
    """No common divisor: in one row, doubles could not distinguish v from v - 1."""
    document = lagging(top, top - 2, top - 5, top // 2 + 1, top // 2 - 8, members=3)
    document["members"]["m0"]["capacity"] = 2
    if top > 10**15:
        document = lagging(top - 4, top // 2 + 1, top // 3 + 5, top // 7, members=2)
    outcome = answer(document, "none; peak-lag")
    assert outcome.status is Status.OPTIMAL
    assert values(outcome) == best_values(document, "none; peak-lag")


@pytest.mark.parametrize("count", [5, pytest.param(7, marks=pytest.mark.heavy)])
def test_huge_lags_that_differ_in_the_last_digits_are_solved(count: int) -> None:
    document = lagging(*(10**15 - 7919 * n * n for n in range(count)), members=3)
    outcome = answer(document, "none; peak-lag")
    assert outcome.status is Status.OPTIMAL
    assert values(outcome) == best_values(document, "none; peak-lag")


def test_huge_lags_with_a_common_divisor_are_small() -> None:
    unit = 2**50
    document = lagging(*(unit * n for n in (7, 7, 6, 6, 5, 5, 4)), members=3)
    outcome = answer(document, "none; peak-lag")
    assert outcome.status is Status.OPTIMAL
    assert values(outcome) == [14 * unit]
