"""Run CP-SAT within limits: a second thread watches them and ends the search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from threading import Event, Thread
from typing import Final

from ortools.sat.python import cp_model

from solver.limits import Limits

VERSION: Final = version("ortools")
_LOOK: Final = 0.05  # seconds between two looks at the limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """How a search ended.

    Attributes
    ----------
    values : tuple of int or None
        Of the variables asked for; None: nothing was found.
    bound : int or None
        No solution has less; None: that is not known.
    closed : bool
        The search went to its end.
    """

    values: tuple[int, ...] | None = None
    bound: int | None = None
    closed: bool = False


def search(
    model: cp_model.CpModel, asked: Sequence[cp_model.IntVar], limits: Limits
) -> Search:
    """Minimize a model that has a solution."""
    if limits.struck():
        return Search()
    solver = cp_model.CpSolver()
    parameters = solver.parameters
    parameters.random_seed = limits.seed
    parameters.num_workers = limits.workers
    parameters.catch_sigint_signal = False  # whoever set the limits hears it
    # Hundreds of small programs whose relaxation is all but whole: to simplify one
    # first takes longer than to solve it.
    parameters.cp_model_presolve = False
    if limits.left is not None:
        parameters.max_time_in_seconds = limits.left
    if limits.effort is not None:
        parameters.max_deterministic_time = limits.effort
    with _watched(solver, limits):
        status = solver.solve(model)
    if status in {cp_model.INFEASIBLE, cp_model.MODEL_INVALID}:
        raise AssertionError(f"a program that has a solution: {solver.status_name()}")
    if status == cp_model.UNKNOWN:
        return Search()
    values = tuple(int(solver.value(one)) for one in asked)
    if status == cp_model.OPTIMAL:
        return Search(values=values, bound=int(solver.objective_value), closed=True)
    # The bound that is counted in integers, not the one told as a float.
    bound = int(solver.response_proto.inner_objective_lower_bound)
    return Search(values=values, bound=bound)


@contextmanager
def _watched(solver: cp_model.CpSolver, limits: Limits) -> Iterator[None]:
    done = Event()

    def watch() -> None:
        while not done.wait(_LOOK):
            if limits.struck():
                solver.stop_search()  # again: the first may come before the search

    thread = Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
