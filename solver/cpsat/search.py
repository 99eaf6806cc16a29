"""Running CP-SAT within limits, one level after the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Final

from ortools.sat.python import cp_model

from solver.cpsat.plan import Plan
from solver.cpsat.program import Linear, Program
from solver.cpsat.run_solver import configure_solver, run_solver
from solver.limits import LimitExceededError, Limits
from solver.result import Status

ENGINE: Final = f"cp-sat {version('ortools')}"
PRESOLVED: Final = 2**30
"""Programs with larger sums are not presolved: OR-Tools 9.15 then loses solutions.

It reads "linear + amo: extracted enforcement literal" off sums past 32 bits wrongly;
``test_bug_presolve`` has a model of eight constraints.
"""

STATUS: Final = {
    cp_model.OPTIMAL: Status.OPTIMAL,
    cp_model.FEASIBLE: Status.FEASIBLE,
    cp_model.INFEASIBLE: Status.INFEASIBLE,
    cp_model.UNKNOWN: Status.UNKNOWN,
}


class RefusedError(Exception):
    """CP-SAT does not take the program: its numbers are too large."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """How one search ended.

    Attributes
    ----------
    status : Status
        Of this program and this objective.
    plan : Plan or None
    bound : int
        What the expression, never negative, is never below; an exact integer.
    value : int
        Of the expression in the plan; derived variables may make it too large.
    """

    status: Status
    plan: Plan | None = None
    bound: int = 0
    value: int = 0


@dataclass(slots=True, kw_only=True)
class Search:
    """Runs programs one after the other, all within the same limits.

    Attributes
    ----------
    limits : Limits
    spent : float
        Effort so far, in CP-SAT's deterministic units.
    """

    limits: Limits
    spent: float = field(default=0.0)

    def exceeded(self) -> str | None:
        """Name the limit that has struck, effort included."""
        effort = self.limits.effort
        if effort is not None and self.spent >= effort:
            return f"effort limit of {effort:g}"
        return self.limits.exceeded()

    def why(self) -> str | None:
        """Name the limit that kept a search from its end."""
        limits = self.limits
        if (struck := self.exceeded()) is not None:
            return struck
        if limits.seconds is not None:
            return f"time limit of {limits.seconds:g} s"
        if limits.effort is not None:
            return f"effort limit of {limits.effort:g}"
        # CP-SAT ends by itself, and gives back what it had, before there is too much.
        return None if limits.memory is None else limits.memory_words

    def check(self) -> None:
        """Raise LimitExceededError once a limit has struck."""
        if (struck := self.exceeded()) is not None:
            raise LimitExceededError(struck)

    def minimize(
        self, program: Program, expression: Linear | None, *, share: float = 1.0
    ) -> Found:
        """Make an expression small, or with None find any plan.

        Parameters
        ----------
        program : Program
        expression : linear, without constant, never negative
        share : float
            What part of the time and effort left it may take.

        Raises
        ------
        LimitExceededError
            If a limit has struck already.
        """
        self.check()
        if expression is None:
            program.model.clear_objective()  # type: ignore[no-untyped-call]
        else:
            program.model.minimize(expression)
        solver = configure_solver(self.limits)
        self._set(solver, share)
        solver.parameters.cp_model_presolve = program.largest <= PRESOLVED
        if not run_solver(solver, program.model, self.limits):
            return Found(status=Status.UNKNOWN)
        return self._found(solver, program, expression)

    def _set(self, solver: cp_model.CpSolver, share: float) -> None:
        limits, parameters = self.limits, solver.parameters
        # All of it in the linear relaxation: it is what proves.
        parameters.linearization_level = 2
        if limits.left is not None:
            parameters.max_time_in_seconds = limits.left * share
        if limits.effort is not None:
            left = max(0.0, limits.effort - self.spent)
            parameters.max_deterministic_time = left * share
        if limits.memory is not None:
            parameters.max_memory_in_mb = max(1, limits.memory >> 20)

    def _found(
        self, solver: cp_model.CpSolver, program: Program, expression: Linear | None
    ) -> Found:
        response = solver.response_proto
        self.spent += response.deterministic_time
        if response.status == cp_model.MODEL_INVALID:
            raise RefusedError(program.model.validate())
        status = STATUS[response.status]
        if status not in {Status.OPTIMAL, Status.FEASIBLE}:
            return Found(status=status)
        value = 0 if expression is None else int(solver.value(expression))
        # The integer bound, not the float one; 0 where it never got to one.
        bound = max(0, min(value, int(response.inner_objective_lower_bound)))
        if expression is not None and bound < value:
            status = Status.FEASIBLE
        return Found(
            status=status, plan=program.plan(solver.value), bound=bound, value=value
        )
