"""CP-SAT within limits: a run of one model, and the runs of one solve in sequence."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from math import inf
from typing import Final

from ortools.sat.python import cp_model

from solver.cpsat.cp_instance import ClassCounts
from solver.cpsat.variables import CpProgram, Linear
from solver.limits import LimitExceededError, Limits
from solver.result import Status
from solver.run_limited import run_in_thread

ENGINE: Final = f"cp-sat {version('ortools')}"
PRESOLVE_MAX: Final = 2**30
"""Models with larger sums are not presolved: OR-Tools 9.15 then loses solutions.

It misreads sums beyond 32 bits in "linear + amo: extracted enforcement literal";
``test_bug_presolve`` has a model of eight constraints.
"""


def configure_solver(limits: Limits, *, share: float = 1.0) -> cp_model.CpSolver:
    """Return CP-SAT with the workers, the seed and a share of the remaining time."""
    solver = cp_model.CpSolver()
    parameters = solver.parameters
    parameters.num_workers = limits.workers
    parameters.random_seed = limits.seed % 2**31  # it takes no more bits
    parameters.catch_sigint_signal = False  # the caller that set the limits handles it
    if limits.left is not None:
        parameters.max_time_in_seconds = limits.left * share
    return solver


def run_solver(
    solver: cp_model.CpSolver, model: cp_model.CpModel, limits: Limits
) -> bool:
    """Solve the model; return whether the solver ended before it was abandoned."""
    return run_in_thread(lambda: solver.solve(model), solver.stop_search, limits)


class ModelInvalidError(Exception):
    """CP-SAT rejects the model: its numbers are too large."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CpSolution:
    """How one run ended."""

    status: Status  # of this program and this expression
    counts: ClassCounts | None = None
    bound: int = 0  # on the expression, which is never negative; an exact integer
    value: int = 0  # in the solution; derived variables can make it too large


@dataclass(slots=True, kw_only=True)
class CpRuns:
    """Run programs in sequence within the same limits."""

    limits: Limits
    spent: float = 0.0  # effort so far, in CP-SAT's deterministic units
    effort_ended: bool = False  # a run ended because its share of effort was spent

    def exceeded(self) -> str | None:
        """Name the limit that is exceeded, effort included."""
        effort = self.limits.effort
        if effort is not None and self.spent >= effort:
            return f"effort limit of {effort:g}"
        return self.limits.exceeded()

    def reason(self) -> str | None:
        """Name the limit that ended a run before its proof."""
        limits = self.limits
        if (exceeded := self.exceeded()) is not None:
            return exceeded
        if limits.seconds is not None and not self.effort_ended:
            return f"time limit of {limits.seconds:g} s"
        if limits.effort is not None:
            return f"effort limit of {limits.effort:g}"
        # CP-SAT stops by itself, with its best solution, before it exceeds the memory.
        return None if limits.memory is None else limits.memory_words

    def check(self) -> None:
        """Raise LimitExceededError once a limit is exceeded."""
        if (exceeded := self.exceeded()) is not None:
            raise LimitExceededError(exceeded)

    def minimize(
        self, program: CpProgram, expression: Linear | None, *, share: float = 1.0
    ) -> CpSolution:
        """Minimize an expression; with None, find any solution.

        Parameters
        ----------
        program : CpProgram
        expression : linear, without constant, never negative
        share : float
            Part of the remaining time and effort that the run can take.

        Raises
        ------
        LimitExceededError
            If a limit is exceeded already.
        """
        self.check()
        if expression is None:
            program.model.clear_objective()  # type: ignore[no-untyped-call]
        else:
            program.model.minimize(expression)
        solver = self._configured(share)
        solver.parameters.cp_model_presolve = program.largest <= PRESOLVE_MAX
        if not run_solver(solver, program.model, self.limits):
            return CpSolution(status=Status.UNKNOWN)
        return self._solution(solver, program, expression)

    def _configured(self, share: float) -> cp_model.CpSolver:
        limits, solver = self.limits, configure_solver(self.limits, share=share)
        parameters = solver.parameters
        # All constraints in the linear relaxation: it proves the bounds.
        parameters.linearization_level = 2
        if limits.effort is not None and limits.effort != inf:
            left = max(0.0, limits.effort - self.spent)
            parameters.max_deterministic_time = left * share
        if limits.memory is not None:
            parameters.max_memory_in_mb = max(1, limits.memory >> 20)
        return solver

    def _solution(
        self, solver: cp_model.CpSolver, program: CpProgram, expression: Linear | None
    ) -> CpSolution:
        response = solver.response_proto
        self.spent += response.deterministic_time
        if response.deterministic_time >= solver.parameters.max_deterministic_time:
            self.effort_ended = True
        if response.status == cp_model.MODEL_INVALID:
            raise ModelInvalidError(program.model.validate())
        status = Status[response.status.name]
        if status not in {Status.OPTIMAL, Status.FEASIBLE}:
            return CpSolution(status=status)
        value = 0 if expression is None else int(solver.value(expression))
        # The integer bound, not the one in doubles; 0 if none was computed.
        bound = max(0, min(value, int(response.inner_objective_lower_bound)))
        if expression is not None and bound < value:
            status = Status.FEASIBLE
        return CpSolution(
            status=status, counts=program.counts(solver.value), bound=bound, value=value
        )
