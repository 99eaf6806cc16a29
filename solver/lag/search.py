"""CP-SAT, last: find an assignment with less, or prove that there is none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from threading import Event, Thread
from typing import Final

import numpy as np
from ortools.sat.python import cp_model

from rebalance.claims import Int32
from solver.lag.program import Goal, Program
from solver.lag.setting import Setting
from solver.lag.work import Work

ENGINE: Final = f"cp-sat {version('ortools')}"
MOST_CHOICES: Final = 60_000
"""Variables; what is larger is left to bounds and exchanges."""

_SUM_MAX: Final = 2**61  # CP-SAT refuses sums near 2^63


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """What a search found.

    Attributes
    ----------
    holder : int32 (P,) or None
        Something with less than was to beat.
    bound : int
        No value is below it.
    """

    holder: Int32 | None
    bound: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Whether there is less of a goal than ``beat``, where none is below ``bound``.

    Attributes
    ----------
    within : mapping of Goal to int
        What the levels before allow at most.
    """

    goal: Goal
    beat: int
    bound: int
    within: Mapping[Goal, int]


def fits(setting: Setting) -> bool:
    """Tell whether the program is small enough to be worth building."""
    room = setting.room
    people = np.diff(room.class_first)
    of_topic = np.zeros(room.topic_first.size - 1, np.int64)
    listed = np.repeat(np.arange(of_topic.size), np.diff(room.topic_first))
    np.add.at(of_topic, listed, people[room.topic_classes])
    weights = setting.scale // room.unit
    largest = max(int(room.unit.max(initial=1)), int(weights.sum()) * 2)
    return (
        int(of_topic[room.topic].sum()) <= MOST_CHOICES
        and int(room.lag.sum()) * largest < _SUM_MAX
    )


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
    program = Program(setting, sticky=sticky)
    for goal, most in question.within.items():
        program.measure(goal, 0, most)
    program.model.minimize(program.measure(question.goal, bound, beat - 1))
    program.hint(holder)
    solver = _solver(work, effort)
    with _stopped_by(work, solver):
        status = solver.solve(program.model)
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


def _solver(work: Work, effort: float) -> cp_model.CpSolver:
    limits = work.limits
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = limits.workers
    solver.parameters.random_seed = limits.seed % 2**31
    solver.parameters.max_deterministic_time = max(work.left(effort), 1e-3)
    if limits.left is not None:
        solver.parameters.max_time_in_seconds = limits.left
    return solver


@contextmanager
def _stopped_by(work: Work, solver: cp_model.CpSolver) -> Iterator[None]:
    """End a solve soon after a limit has struck that CP-SAT knows nothing of."""
    done = Event()

    def watch() -> None:
        while not done.wait(0.1):
            if work.limits.struck() is not None:
                solver.stop_search()
                return

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
