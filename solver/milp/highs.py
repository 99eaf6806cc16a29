"""HiGHS through PuLP's interface, with limits, and its bound read back.

The limits are checked in HiGHS's callbacks. Restarts are off, as they presolve again:
HiGHS 1.13 and 1.14 lose optima in presolve (HiGHS issues 3043, 3073, 3094; the tests
contain an instance of ours). Without presolve, 1.13 cuts off optima once it has found
a solution. `lexicographic_milp.minimize` therefore confirms every bound.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import highspy
import pulp

from solver.milp.counted_limits import CountedLimits

TOLERANCE: Final = 1e-9
"""Accepted error of a row, a reduced cost, or an integer."""

CHECK_SECONDS: Final = 0.02
"""Time between two checks of the limits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRun:
    """One run of HiGHS: doubles that are not trusted."""

    status: int  # LpStatusOptimal, -Infeasible, -NotSolved (a limit), or -Undefined
    values: Mapping[str, float] | None = None  # by column: the best solution found
    bound: float | None = None  # lower bound on the objective


def version() -> str:
    """Return the name and version of the solver."""
    return f"highs {highspy.Highs().version()}"


def minimize(
    problem: pulp.LpProblem, limits: CountedLimits, *, mip: bool = True, presolve: bool
) -> SearchRun:
    """Minimize the objective of a problem, unless a limit is exceeded already."""
    if limits.exceeded() is not None:  # to pass the problem on can take a second
        return SearchRun(status=pulp.LpStatusNotSolved)
    solver = _LimitedHighs(limits, mip=mip, presolve=presolve)
    problem.solve(solver)
    return solver.found


_STATUSES: Final = {
    highspy.HighsModelStatus.kOptimal: pulp.LpStatusOptimal,
    highspy.HighsModelStatus.kModelEmpty: pulp.LpStatusOptimal,
    highspy.HighsModelStatus.kInfeasible: pulp.LpStatusInfeasible,
    highspy.HighsModelStatus.kTimeLimit: pulp.LpStatusNotSolved,
    highspy.HighsModelStatus.kInterrupt: pulp.LpStatusNotSolved,
    highspy.HighsModelStatus.kSolutionLimit: pulp.LpStatusNotSolved,  # of nodes, too
}
_CALLBACKS: Final = (
    highspy.cb.HighsCallbackType.kCallbackMipInterrupt,
    highspy.cb.HighsCallbackType.kCallbackSimplexInterrupt,
)


class _LimitedHighs(pulp.HiGHS):  # type: ignore[misc]
    """PuLP's HiGHS; a callback checks the limits, and the bound is kept."""

    def __init__(self, limits: CountedLimits, *, mip: bool, presolve: bool) -> None:
        self.found = SearchRun(status=pulp.LpStatusUndefined)
        self._limits = limits
        self._checked = time.monotonic()
        self._columns = 0
        left = limits.left
        super().__init__(
            mip=mip,
            msg=False,
            gapAbs=0.0,
            gapRel=0.0,
            threads=limits.workers,
            timeLimit=None if left is None else left + CHECK_SECONDS,
            callbackTuple=(self._interrupt, None),
            callbacksToActivate=list(_CALLBACKS),
            random_seed=limits.seed % 2**31,
            log_to_console=False,
            presolve="choose" if presolve else "off",
            mip_allow_restart=False,
            primal_feasibility_tolerance=TOLERANCE,
            dual_feasibility_tolerance=TOLERANCE,
            mip_feasibility_tolerance=TOLERANCE,
        )

    def callSolver(self, lp: pulp.LpProblem) -> None:  # noqa: N802
        """Solve the model that PuLP has built."""
        self._columns = lp.solverModel.getNumCol()
        super().callSolver(lp)

    def findSolutionValues(self, lp: pulp.LpProblem) -> tuple[int, int]:  # noqa: N802
        """Read solution, status, and bound; PuLP's own method drops the bound."""
        model = lp.solverModel
        # HiGHS holds the callback, and the callback this object: free all of them.
        lp.solverModel = None
        status = _STATUSES.get(model.getModelStatus(), pulp.LpStatusUndefined)
        info = model.getInfo()
        values = None
        feasible = highspy.SolutionStatus.kSolutionStatusFeasible
        if info.primal_solution_status == feasible:
            names = [column.name for column in lp.variables()]
            values = dict(zip(names, model.getSolution().col_value, strict=True))
        bound = info.mip_dual_bound if self.mip else info.objective_function_value
        if status != pulp.LpStatusOptimal:
            bound = None  # of a search that was stopped, nothing confirms it
        self.found = SearchRun(status=status, values=values, bound=bound)
        return pulp.LpStatusNotSolved, pulp.LpSolutionNoSolutionFound

    def _interrupt(
        self,
        kind: highspy.cb.HighsCallbackType,
        _message: str,
        _output: highspy.cb.HighsCallbackOutput,
        answer: highspy.cb.HighsCallbackInput | None,
        _data: object,
    ) -> None:
        """Stop HiGHS once a limit is exceeded."""
        is_iteration = kind == _CALLBACKS[1]
        self._limits.spend_on_step(self._columns, is_iteration=is_iteration)
        now = time.monotonic()
        if answer is None:
            return
        if self._limits.is_spent:
            answer.user_interrupt = True
        elif now > self._checked + CHECK_SECONDS:
            self._checked = now
            answer.user_interrupt = self._limits.exceeded() is not None
