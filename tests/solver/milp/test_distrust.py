"""Solvers that err: rounding, bounds a little too good, wrong words, huge numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pulp
import pytest

from rebalance.errors import OutsideError
from solver.limits import Limits
from solver.milp import Backend, cbc, highs, search
from solver.milp.backend import End, Request, Run
from solver.milp.case import case_of
from solver.milp.objectives import peak_lag
from solver.milp.rounding import rounded
from solver.milp.safety import delta_of, safe_bound
from solver.milp.writing import written
from solver.policy import no_balance, parse_policy
from solver.result import Status
from tests.shapes import shape
from tests.solver.milp.cases import answer, lags, values
from tests.solver.routes import instance

Fake = Callable[[Run], Run]
SEVEN = (7, 7, 6, 6, 5, 5, 4)  # peak of three members: 14, and no term proves it


@pytest.fixture
def doctored(monkeypatch: pytest.MonkeyPatch) -> Callable[[Fake], None]:
    """Let a fake change what HiGHS says of integer programs."""

    def doctor(fake: Fake) -> None:
        def run(request: Request) -> Run:
            found = highs.run(request)
            return found if request.relaxed else fake(found)

        monkeypatch.setattr(search, "RUNS", {Backend.HIGHS: run})

    return doctor


def test_undoctored() -> None:
    outcome = answer(lags(*SEVEN, members=3), "none; peak-lag")
    assert outcome.status is Status.OPTIMAL
    assert values(outcome) == [14]


@pytest.mark.parametrize("shift", [0.4, 1e-3, 1e-7])
def test_a_bound_within_half_proves_no_more(
    doctored: Callable[[Fake], None], shift: float
) -> None:
    """The bound before the last, plus a bit: rounding it up would be a proof."""
    doctored(lambda run: replace(run, values=None, bound=14 - 1 - shift))
    outcome = answer(lags(*SEVEN, members=3), "none; peak-lag")
    assert outcome.objectives[0].bound <= 14  # type: ignore[operator]
    assert outcome.status is not Status.OPTIMAL
    assert outcome.reason


def test_a_bound_above_what_is_known_is_not_believed(
    doctored: Callable[[Fake], None],
) -> None:
    doctored(lambda run: replace(run, values=None, bound=1e6))
    outcome = answer(lags(*SEVEN, members=3), "none; peak-lag")
    assert outcome.status is Status.FEASIBLE
    (reached,) = outcome.objectives
    assert reached.bound < reached.value  # type: ignore[operator]
    assert "exact recount" in str(outcome.reason)


def test_nothing_to_find_is_not_believed_of_what_exists(
    doctored: Callable[[Fake], None],
) -> None:
    doctored(lambda _: Run(end=End.EMPTY))
    outcome = answer(lags(*SEVEN, members=3), "none; peak-lag")
    assert outcome.status is Status.FEASIBLE
    outcome = answer(shape("CHAIN"), "dec-min; stickiness; max-moves=2")
    assert outcome.status is Status.UNKNOWN  # infeasible, but who says so?


@pytest.mark.parametrize("bound", [float("nan"), float("inf"), float("-inf"), -1e308])
def test_bounds_that_are_none(doctored: Callable[[Fake], None], bound: float) -> None:
    doctored(lambda run: replace(run, values=None, bound=bound))
    outcome = answer(lags(*SEVEN, members=3), "none; peak-lag")
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
    doctored: Callable[[Fake], None], spoil: Callable[[float], float]
) -> None:
    """A solver's assignment that is none is dropped; the start stays the answer."""

    def fake(run: Run) -> Run:
        spoilt = {name: spoil(x) for name, x in (run.values or {}).items()}
        return Run(end=End.DONE, values=spoilt, bound=None)

    doctored(fake)
    outcome = answer(lags(*SEVEN, members=3), "none; peak-lag")
    assert outcome.status is Status.FEASIBLE
    assert outcome.assignment is not None


def test_rounding() -> None:
    """Nearly integers are taken; fractions, sums and signs that are off are not."""
    policy = parse_policy("none; peak-lag")
    case = case_of(instance(lags(3, 2)), policy, Limits(), Backend.HIGHS)
    program = written(case, no_balance, None)
    right = {var.name: float(c == 0) for (_, c), var in program.given.items()}
    first = next(iter(right))
    assert rounded(program, {k: v + 1e-7 for k, v in right.items()}) is not None
    for wrong in (0.5, 2.0, -1.0, float("nan"), float("inf")):
        assert rounded(program, {**right, first: wrong}) is None


def test_bounds_are_rounded_the_safe_way() -> None:
    policy = parse_policy("none; peak-lag")
    case = case_of(instance(lags(5, 3)), policy, Limits(), Backend.HIGHS)
    program = written(case, no_balance, None)
    goal = peak_lag(program, case.members)
    delta = delta_of(program, goal)
    assert 0 < delta < Fraction(1, 2)
    assert safe_bound(program, goal, 5.0) == 5
    assert safe_bound(program, goal, 5.0 + float(delta) / 2) == 5
    assert safe_bound(program, goal, 5.0 - float(delta) / 2) == 5
    assert safe_bound(program, goal, 5.1) == 6
    assert safe_bound(program, goal, None) is None
    for largest in (7 * 10**8, 10**10):
        program.largest = largest
        assert delta_of(program, goal) > Fraction(1, 2)
        assert safe_bound(program, goal, 5.0) < 5  # type: ignore[operator]


@pytest.mark.parametrize("backend", Backend)
@pytest.mark.parametrize("top", [10**9, 10**14, (2**63 - 1) // 3])
def test_huge_lags_are_not_called_proved(backend: Backend, top: int) -> None:
    """No common divisor and no term: doubles cannot tell v from v - 1."""
    document = lags(top, top - 2, top - 5, top // 2 + 1, top // 2 - 8, members=3)
    document["members"]["m0"]["capacity"] = 2
    if top > 10**15:
        document = lags(top - 4, top // 2 + 1, top // 3 + 5, top // 7, members=2)
    outcome = answer(document, "none; peak-lag", backend)
    assert outcome.assignment is not None
    (reached,) = outcome.objectives
    if outcome.status is Status.OPTIMAL:
        assert reached.proof is not None
        assert reached.proof.by == "terms"
    else:
        assert outcome.reason
        assert reached.bound < reached.value  # type: ignore[operator]


def test_huge_lags_in_coarse_units_are_near() -> None:
    """The bound is what the dropped parts leave: a hundred-millionth below."""
    top = 10**15
    document = lags(*(top - 7919 * n * n for n in range(7)), members=3)
    outcome = answer(document, "none; peak-lag")
    (reached,) = outcome.objectives
    assert isinstance(reached.value, int)
    assert isinstance(reached.bound, int)
    assert 0 < reached.value - reached.bound < reached.value // 10**6
    assert "coarser" in str(outcome.reason)


@pytest.mark.parametrize("backend", Backend)
def test_huge_lags_with_a_common_divisor_are_small(backend: Backend) -> None:
    unit = 2**50
    document = lags(*(unit * n for n in SEVEN), members=3)
    outcome = answer(document, "none; peak-lag", backend)
    assert outcome.status is Status.OPTIMAL
    assert values(outcome) == [14 * unit]


def test_no_cbc_is_an_error_that_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulp.PULP_CBC_CMD, "pulp_cbc_path", "/nowhere/cbc")
    cbc.version.cache_clear()
    with pytest.raises(OutsideError, match="CBC"):
        answer(lags(1, 2), "none; peak-lag", Backend.CBC)
    cbc.version.cache_clear()


@pytest.mark.parametrize(
    "found",
    [
        "",
        "garbage",
        "Optimal - objective value x\n",
        "Unbounded - objective value 3\n",
        "Optimal - objective value 3\n 0 X0000000 nan 0\n",
    ],
)
def test_files_of_cbc_that_say_nothing(found: str) -> None:
    read = cbc._read(found, "", {"X0000000": "x"})
    assert read.values is None
    assert read.end is End.FAILED
