"""CP-SAT, last: find an assignment with less, or prove that there is none."""

from __future__ import annotations

from ortools.sat.python import cp_model

from rebalance.claims import Int32
from solver.cpsat import configure_solver, run_solver
from solver.limits import LimitExceededError
from solver.peak_lag.program import Program
from solver.peak_lag.question import PRESOLVED, Goal, Question, Searched, largest_sum
from solver.peak_lag.setting import Setting
from solver.peak_lag.work import Work


def search(
    setting: Setting, holder: Int32, question: Question, work: Work, effort: float
) -> Searched:
    """Look for an answer for some deterministic seconds.

    Returns
    -------
    Searched
        ``bound`` equal to ``beat`` if it is proved that there is nothing less.
    """
    beat, bound = question.beat, question.bound
    sticky = Goal.MOVES in question.within or question.goal is Goal.MOVES
    try:
        program = Program(setting, sticky=sticky, work=work)
        for goal, most in question.within.items():
            program.measure(goal, 0, most)
        program.model.minimize(program.measure(question.goal, bound, beat - 1))
        program.hint(holder)
    except LimitExceededError:
        return Searched(holder=None, bound=bound)
    solver = solver_within(work, effort)
    deviation = Goal.DEVIATION in {question.goal, *question.within}
    largest = largest_sum(setting, deviation=deviation)
    solver.parameters.cp_model_presolve = largest <= PRESOLVED
    if not run_solver(solver, program.model, work.limits):
        return Searched(holder=None, bound=bound)
    status = solver.response_proto.status
    work.spent += solver.response_proto.deterministic_time
    if status == cp_model.INFEASIBLE:
        return Searched(holder=None, bound=beat)
    found = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    if not found and status != cp_model.UNKNOWN:
        return Searched(holder=None, bound=bound)  # sums past what it can add up
    least = round(solver.best_objective_bound)  # whole: the objective is
    return Searched(
        holder=program.read(solver) if found else None, bound=max(bound, least)
    )


def solver_within(work: Work, effort: float) -> cp_model.CpSolver:
    """Return CP-SAT, set to keep to the limits and to an effort."""
    solver = configure_solver(work.limits)
    solver.parameters.max_deterministic_time = max(work.left(effort), 1e-3)
    return solver
