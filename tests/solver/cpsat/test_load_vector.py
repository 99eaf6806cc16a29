"""The objective ``load`` on restricted sets of assignments, against enumeration.

Reaches into `solver.cpsat` to compare one objective with enumeration.
"""

from __future__ import annotations

import pytest

from solver import Limits, Objective, Status, WeightedObjective, cpsat, parse_policy
from solver.cpsat import load_vector
from solver.cpsat.balance_region import open_region
from solver.cpsat.constraints import assign_each_partition_once
from solver.cpsat.cp_instance import Distinctions
from solver.cpsat.load_vector import LoadVectorSolve
from solver.cpsat.run_solver import CpRuns
from solver.objectives import value_of
from tests.references.brute import Brute
from tests.solver.cpsat.cases import (
    allows,
    assignments,
    cp_instance,
    drawn,
    program_for,
    totals_of,
)
from tests.solver.routes import instance
from tests.support.shapes import CHAIN, TWO_LEVELS, Document, member, rebalance

LOAD = WeightedObjective.of(Objective.LOAD)

# All owned by a, b and c. With four moves the sum of squares is least where five are
# left on one: the search has to compare (5, 4, 4, 0 ...) with (4, 4, 4 ...).
HEAPS = rebalance(
    {"t": 9, "u": 6, "v": 3},
    {
        "a": member(["t", "u"], {"t": list(range(9))}),
        "b": member(["u", "v"], {"u": list(range(6))}),
        "c": member(["v"], {"v": [0, 1, 2]}),
        "d": member(["t", "v"]),
    },
)


@pytest.mark.parametrize("document", [HEAPS, CHAIN, TWO_LEVELS])
@pytest.mark.parametrize("budget", range(5))
@pytest.mark.parametrize("batch", [1, 2**29])
def test_load_within_a_budget(
    document: Document, budget: int, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One threshold per run, and many at once, result in the same vector."""
    monkeypatch.setattr(load_vector, "BATCH_MAX", batch)
    text = f"none; load, stickiness; max-moves={budget}"
    outcome = cpsat.solve(instance(document), parse_policy(text), limits=Limits())
    assert outcome.status is Status.OPTIMAL
    best = Brute(document).best(text)
    assert best is not None
    found = [objective.value for objective in outcome.objectives]
    assert found == [tuple(best[0]), best[1]]  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(20))
def test_a_fixed_vector_excludes_every_other(seed: int) -> None:
    cp = cp_instance(drawn(seed), Distinctions(owners=True))
    every = list(assignments(cp.instance))
    program = program_for(cp)
    assign_each_partition_once(program)
    solve = LoadVectorSolve(
        program=program,
        runs=CpRuns(limits=Limits()),
        counts=cp.class_counts(every[-1]),
        proved=False,
    )
    best = min(value_of(cp.instance, assignment, LOAD) for assignment in every)
    assert solve.run() == best
    assert value_of(cp.instance, cp.assignment(solve.counts), LOAD) == best
    for assignment in every[:60]:
        is_best = value_of(cp.instance, assignment, LOAD) == best
        assert allows(program, assignment) == is_best


def test_the_open_region_contains_everything() -> None:
    cp = cp_instance(CHAIN)
    region = open_region(cp)
    assert all(
        region.contains(totals_of(cp, assignment))
        for assignment in assignments(cp.instance)
    )
