"""What a solver is asked and what it says, whichever it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

import pulp

from solver.limits import Limits

TOLERANCE = 1e-9
"""How far off a row, a reduced cost or an integer may be; both solvers accept it."""


class Backend(Enum):
    """Who solves the programs."""

    HIGHS = "highs"
    CBC = "cbc"


class End(Enum):
    """How a run ended, in the solver's own opinion."""

    DONE = "done"  # what was found is the best
    EMPTY = "empty"  # there is nothing to find
    STOPPED = "stopped"  # a limit struck
    FAILED = "failed"  # the solver gave up


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of a solver: doubles, none of them to be believed.

    Attributes
    ----------
    end : End
    values : mapping of variable name to float, or None
        The best that was found.
    bound : float or None
        What it says no solution is below; without the goal's constant.
    """

    end: End
    values: Mapping[str, float] | None = None
    bound: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One program to solve.

    Attributes
    ----------
    lp : pulp.LpProblem
        With its objective set.
    start : mapping of variable name to int
        A solution to start from; variables may be missing.
    relaxed : bool
        Whether all variables may be fractions: a linear program, solved at a vertex.
    """

    lp: pulp.LpProblem
    limits: Limits
    start: Mapping[str, int] = field(default_factory=dict)
    relaxed: bool = False


NODES_PER_EFFORT = 2000
"""Nodes of a search tree that stand for one unit of `Limits.effort`."""


def nodes_of(limits: Limits) -> int | None:
    """Return how many nodes a search may open; None: as many as it likes."""
    if limits.effort is None:
        return None
    return max(1, int(limits.effort * NODES_PER_EFFORT))
