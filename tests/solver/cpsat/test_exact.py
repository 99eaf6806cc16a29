"""Only integers where optimality is claimed: what CP-SAT cannot be trusted with."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from ortools.sat.python import cp_model

from rebalance import InstanceError
from solver import Limits, Status, cpsat, parse_policy
from solver.cpsat.objective_expressions import VALUE_MAX
from solver.cpsat.run_solver import PRESOLVE_MAX
from solver.objectives import largest_value
from tests.references.brute import Brute
from tests.solver.routes import instance, lagging
from tests.support.amount import INSTANCES, seeds
from tests.support.shapes import member, rebalance
from tests.support.strategies import Limits as Size
from tests.support.strategies import draw_rebalance, seeded_rebalance

POLICIES = (
    "none; lag-spread",
    "none; peak-lag, lag-spread",
    "dec-min; lag-deviation, peak-lag",
    "none; topic-peak-lag, lag-spread",
    "kip54; 2*lag-spread + 3*topic-peak-lag",
)
SIZE = Size(members=3, topics=2, partitions=3)


def test_bug_presolve() -> None:
    """CP-SAT 9.15 presolves this to a worse optimum; without presolve it is right.

    Once both agree, `solver.cpsat.run_solver.PRESOLVE_MAX` can go.
    """
    coefficients = (333503827193, 340444197338, 449072450544)
    whole = sum(coefficients)

    def best(*, presolve: bool) -> int:
        model = cp_model.CpModel()
        x = [model.new_bool_var("") for _ in range(9)]
        top, high, low = (model.new_int_var(0, whole, "") for _ in range(3))
        lag = [
            sum(c * x[3 * i + m] for i, c in enumerate(coefficients)) for m in range(3)
        ]
        model.add(x[6] + x[7] + x[8] == 1)
        model.add(lag[1] >= lag[2])
        model.add(lag[1] <= top)
        model.add(lag[2] <= top)
        model.add(top <= coefficients[2])
        model.add(lag[0] <= high)
        model.add(lag[1] <= high)
        model.add(low <= lag[2])
        model.minimize(high - low)
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.catch_sigint_signal = False  # it would stay without one
        solver.parameters.cp_model_probing_level = 0
        solver.parameters.cp_model_presolve = presolve
        assert solver.solve(model) == cp_model.OPTIMAL
        return int(solver.objective_value)

    assert best(presolve=False) == 108628253206
    assert best(presolve=True) > best(presolve=False)


@pytest.mark.parametrize("bits", [24, 29, 31, 34, 38, 42, 48, 52])
def test_large_lags_are_added_up_exactly(bits: int) -> None:
    for place in seeds(max(3, INSTANCES // 500)):
        seed = 100 * place + bits
        rng = Random(seed)  # noqa: S311
        document = draw_rebalance(rng, SIZE, seed=seed)
        for entry in document["members"].values():
            entry.pop("capacity", None)
        topics = document["topics"].values()
        top = 2**bits // (6 * max(1, sum(topic["partitions"] for topic in topics)))
        for topic in topics:
            topic["lag"] = [rng.randint(0, top) for _ in range(topic["partitions"])]
        if not document["topics"]:
            continue
        brute = Brute(document)
        for text in POLICIES:
            policy = parse_policy(text)
            outcome = cpsat.solve(instance(document), policy, limits=Limits())
            assert outcome.status is Status.OPTIMAL
            values = [objective.value for objective in outcome.objectives]
            assert values == brute.best(text), (text, document)


def test_programs_with_large_sums_are_not_presolved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    presolved: list[bool] = []
    search = cp_model.CpSolver.solve

    def watched(solver: cp_model.CpSolver, *given: Any) -> Any:
        presolved.append(solver.parameters.cp_model_presolve)
        return search(solver, *given)

    monkeypatch.setattr(cp_model.CpSolver, "solve", watched)
    for lag in (5, PRESOLVE_MAX):
        document = lagging(lag, lag + 1, lag + 3)
        limits = Limits()
        policy = parse_policy("none; lag-spread")
        cpsat.solve(instance(document), policy, limits=limits)
    assert presolved == [True, False]


def test_bug_a_spread_is_not_proved_step_by_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As a difference of two variables, it fell by 1 from solution to solution."""
    most = 100
    found = 0

    class Counter(cp_model.CpSolverSolutionCallback):
        def on_solution_callback(self) -> None:
            nonlocal found
            found += 1
            if found > most:
                self.stop_search()

    def counted(solver: cp_model.CpSolver, model: cp_model.CpModel) -> Any:
        return search(solver, model, Counter())

    search = cp_model.CpSolver.solve
    monkeypatch.setattr(cp_model.CpSolver, "solve", counted)
    document = rebalance(
        {
            "t0": {"partitions": 3, "lag": [6378060, 2871236, 62848814]},
            "t1": {"partitions": 2, "lag": [31907985, 13752962]},
        },
        {"a": member(["t0", "t1"], {"t0": [1, 2], "t1": [0, 1]})}
        | {name: member(["t0", "t1"]) for name in ("b", "c")},
    )
    policy = parse_policy("none; topic-peak-lag, lag-spread")
    outcome = cpsat.solve(instance(document), policy, limits=Limits())
    assert outcome.status is Status.OPTIMAL
    assert 0 < found <= most


def test_what_is_past_exact_doubles_is_refused_by_name() -> None:
    document = lagging(2**52, 2**52, 1)
    policy = parse_policy("none; stickiness, lag-spread")
    with pytest.raises(InstanceError, match="lag-spread could reach") as caught:
        cpsat.solve(instance(document), policy, limits=Limits())
    assert "cp-sat is exact up to 2^53" in str(caught.value)


def test_any_lag_is_answered_or_refused() -> None:
    for seed in seeds(max(20, INSTANCES // 100)):
        document = seeded_rebalance(seed, SIZE)
        if all("lag" not in topic for topic in document["topics"].values()):
            continue
        for text in POLICIES:
            policy = parse_policy(text)
            laid_out = instance(document)
            if (
                max(largest_value(laid_out, level) for level in policy.objectives)
                > VALUE_MAX
            ):
                with pytest.raises(InstanceError, match="could reach"):
                    cpsat.solve(laid_out, policy, limits=Limits())
                continue
            outcome = cpsat.solve(laid_out, policy, limits=Limits())
            assert outcome.status is Status.OPTIMAL
