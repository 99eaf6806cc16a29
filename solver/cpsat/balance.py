"""The dec-min balance as a program: the least sum of ranks of keys."""

from __future__ import annotations

from rebalance import Assignment
from solver.cpsat.constraints import each_partition_once
from solver.cpsat.face import Face, key_of, open_face
from solver.cpsat.plan import Plan, Tally, plan_of
from solver.cpsat.problem import Problem
from solver.cpsat.program import Linear, Program, reaches, total
from solver.cpsat.search import Search
from solver.limits import LimitExceededError
from solver.result import Status


def least_rank(
    problem: Problem, known: list[Assignment], search: Search
) -> Plan | None:
    """Find a dec-min plan: minimize the sum over m and n ≤ load[m] of rank(m, n).

    Ranks number the keys of `solver.cpsat.face`, equal keys alike. Over all allowed
    assignments any cost that rises with the key has the dec-min ones as minima.

    Returns
    -------
    Plan or None
        None if a limit struck before it was proved.
    """
    plans = [plan_of(problem, one) for one in known]
    plans.sort(key=lambda plan: _vector(problem, plan))
    try:
        program = Program(problem, _below_peak(problem, plans[:1]), search.check)
        each_partition_once(program)
        cost = _rank_cost(program)
        if plans:
            program.suggest(plans[0])
        found = search.minimize(program, cost)
    except LimitExceededError:
        return None
    return found.plan if found.status is Status.OPTIMAL else None


def _vector(problem: Problem, plan: Plan) -> list[int]:
    loads = Tally.of(problem, plan).loads
    return sorted((u * n for u, n in zip(problem.units, loads, strict=True)))[::-1]


def _below_peak(problem: Problem, plans: list[Plan]) -> Face:
    """Return all assignments with no higher peak than a known one: others are worse."""
    face = open_face(problem)
    if not plans:
        return face
    peak = max(_vector(problem, plans[0]), default=0)
    loads = tuple(
        (low, min(high, peak // unit))
        for (low, high), unit in zip(face.loads, problem.units, strict=True)
    )
    return Face(seats=face.seats, loads=loads)


def _rank_cost(program: Program) -> Linear:
    """Write each load in steps, load[m] = sum over n of step[m, n]; price the steps.

    Ranks rise with n, so a minimum takes the steps in order.
    """
    problem = program.problem
    sizes = [most for _, most in program.face.loads]
    keys = {
        key_of(problem, m, n + 1) for m, most in enumerate(sizes) for n in range(most)
    }
    rank = {key: place for place, key in enumerate(sorted(keys))}
    steps, prices = [], []
    for member, most in enumerate(sizes):
        own = [program.define(0, 1, reaches(member, n + 1)) for n in range(most)]
        program.model.add(total(own) == program.load(member))
        steps += own
        prices += [rank[key_of(problem, member, n + 1)] for n in range(most)]
        program.check()
    program.largest = max(program.largest, sum(prices))
    return total(steps, prices)
