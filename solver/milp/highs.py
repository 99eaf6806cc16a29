"""HiGHS, through PuLP's own class, with its model handed over in one piece.

It runs in a thread of its own, and the thread that asked watches the limits. Told to
stop, HiGHS mostly does so at once; if not, it is left behind with what it had told so
far, and ends by itself later (Python waits for it before it exits).

Every tolerance is as tight as `backend.TOLERANCE`, and both gaps are 0. Presolve of
integer programs is off, and so are restarts, which presolve again: HiGHS 1.13 and 1.14
lose optima in it (HiGHS issues 3043, 3073, 3094; the tests hold one of ours).
"""

from __future__ import annotations

import threading
from itertools import accumulate
from math import isfinite
from typing import Final

import highspy
import numpy as np
import pulp

from solver.limits import Limits
from solver.milp.backend import TOLERANCE, End, Request, Run, nodes_of

POLL: Final = 0.05
GRACE: Final = 0.5
"""Seconds: how often limits are looked at, and how long HiGHS may take to stop."""

_ENDS: Final = {
    highspy.HighsModelStatus.kOptimal: End.DONE,
    highspy.HighsModelStatus.kModelEmpty: End.DONE,
    highspy.HighsModelStatus.kInfeasible: End.EMPTY,
    highspy.HighsModelStatus.kTimeLimit: End.STOPPED,
    highspy.HighsModelStatus.kInterrupt: End.STOPPED,
    highspy.HighsModelStatus.kSolutionLimit: End.STOPPED,  # of nodes, too
}
_SEARCHING: Final = highspy.cb.HighsCallbackType.kCallbackMipInterrupt
_IMPROVED: Final = highspy.cb.HighsCallbackType.kCallbackMipImprovingSolution
_CALLS: Final = (
    _SEARCHING,
    _IMPROVED,
    highspy.cb.HighsCallbackType.kCallbackSimplexInterrupt,
    highspy.cb.HighsCallbackType.kCallbackIpmInterrupt,
)


def version() -> str:
    """Return HiGHS' name and version."""
    return f"highs {highspy.Highs().version()}"


def run(request: Request) -> Run:
    """Minimize a program."""
    solver = _Watched(request)
    request.lp.solve(solver)
    return solver.run


class _Watched(pulp.HiGHS):  # type: ignore[misc]
    """PuLP's HiGHS: model in one piece, a start, limits, and the bound kept."""

    def __init__(self, request: Request) -> None:
        limits = request.limits
        self.run = Run(end=End.FAILED)
        self._request = request
        self._halt = threading.Event()
        self._found: list[float] | None = None
        self._bound: float | None = None
        super().__init__(
            mip=not request.relaxed,
            msg=False,
            gapAbs=0.0,
            gapRel=0.0,
            threads=limits.workers,
            timeLimit=limits.left,
            callbackTuple=(self._called, None),
            callbacksToActivate=list(_CALLS),
            random_seed=limits.seed % 2**31,
            log_to_console=False,
            solver="simplex" if request.relaxed else "choose",
            presolve="choose" if request.relaxed else "off",
            mip_allow_restart=False,
            primal_feasibility_tolerance=TOLERANCE,
            dual_feasibility_tolerance=TOLERANCE,
            mip_feasibility_tolerance=TOLERANCE,
            mip_max_nodes=nodes_of(limits),
        )

    def buildSolverModel(self, lp: pulp.LpProblem) -> None:  # noqa: N802 - PuLP's name
        """Hand the model over in one piece: PuLP's own way takes it row by row."""
        columns = lp.variables()
        place = {var.name: at for at, var in enumerate(columns)}
        lp.solverModel.passModel(_model(lp, columns, place, mip=self.mip))
        start = self._request.start
        if start:
            at = np.array([place[name] for name in start], dtype=np.int32)
            values = np.array(list(start.values()), dtype=np.float64)
            lp.solverModel.setSolution(at.size, at, values)

    def callSolver(self, lp: pulp.LpProblem) -> None:  # noqa: N802 - PuLP's name
        """Run in another thread; leave it behind if it does not stop when told."""
        # No daemon: one that outlives the interpreter takes the process down with it.
        thread = threading.Thread(target=lp.solverModel.run)
        thread.start()
        thread.join(POLL)
        limits: Limits = self._request.limits
        while thread.is_alive() and not limits.exceeded():
            thread.join(POLL)
        self._halt.set()
        thread.join(GRACE)
        if thread.is_alive():
            self.run = self._left_behind(lp)
            lp.solverModel = None

    def findSolutionValues(self, lp: pulp.LpProblem) -> tuple[int, int]:  # noqa: N802
        """Read what was found; PuLP's variables are left as they are."""
        model = lp.solverModel
        if model is not None:
            self.run = _read(model, lp.variables(), relaxed=not self.mip)
            # HiGHS holds our callback, which holds us and the program, which would
            # hold HiGHS: a ring that no collector sees through.
            lp.solverModel = None
        return pulp.LpStatusNotSolved, pulp.LpSolutionNoSolutionFound

    def _left_behind(self, lp: pulp.LpProblem) -> Run:
        names = [var.name for var in lp.variables()]
        found = self._found
        values = None if found is None else dict(zip(names, found, strict=True))
        return Run(end=End.STOPPED, values=values, bound=self._bound)

    def _called(
        self,
        kind: highspy.cb.HighsCallbackType,
        _message: str,
        output: highspy.cb.HighsCallbackOutput,
        answer: highspy.cb.HighsCallbackInput | None,
        _data: object,
    ) -> None:
        """Hear from HiGHS' thread: keep what it tells, and tell it when to stop."""
        if kind == _IMPROVED:
            self._found = [float(value) for value in output.mip_solution]
        if kind in {_IMPROVED, _SEARCHING} and isfinite(output.mip_dual_bound):
            self._bound = float(output.mip_dual_bound)
        if answer is not None:
            answer.user_interrupt = self._halt.is_set()


def _model(
    lp: pulp.LpProblem,
    columns: list[pulp.LpVariable],
    place: dict[str, int],
    *,
    mip: bool,
) -> highspy.HighsLp:
    rows = list(lp._constraints.values())
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = len(columns), len(rows)
    cost = np.zeros(len(columns))
    for var, factor in lp.objective.items():
        cost[place[var.name]] = factor
    model.col_cost_ = cost
    model.col_lower_ = np.array([var.lowBound for var in columns], dtype=np.float64)
    model.col_upper_ = np.array([var.upBound for var in columns], dtype=np.float64)
    inf = highspy.kHighsInf
    low, high = [row.getLb() for row in rows], [row.getUb() for row in rows]
    model.row_lower_ = np.array([-inf if n is None else n for n in low])
    model.row_upper_ = np.array([inf if n is None else n for n in high])
    matrix = model.a_matrix_
    matrix.format_ = highspy.MatrixFormat.kRowwise
    matrix.start_ = np.array([0, *accumulate(map(len, rows))], dtype=np.int32)
    matrix.index_ = np.array([place[v.name] for r in rows for v in r], dtype=np.int32)
    matrix.value_ = np.array([a for r in rows for a in r.values()], dtype=np.float64)
    if mip:
        sort = highspy.HighsVarType
        model.integrality_ = [
            sort.kInteger if var.cat == pulp.LpInteger else sort.kContinuous
            for var in columns
        ]
    return model


def _read(
    model: highspy.Highs, columns: list[pulp.LpVariable], *, relaxed: bool
) -> Run:
    end = _ENDS.get(model.getModelStatus(), End.FAILED)
    info = model.getInfo()
    values = None
    if info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible:
        found = list(model.getSolution().col_value)
        values = {v.name: x for v, x in zip(columns, found, strict=True)}
    bound = info.objective_function_value if relaxed else info.mip_dual_bound
    known = end is not End.FAILED and abs(bound) < highspy.kHighsInf
    return Run(end=end, values=values, bound=bound if known else None)
