"""From an engine's doubles to an assignment, and from an assignment to counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from rebalance import Assignment, Instance
from rebalance.claims import NOBODY
from solver.milp.alike import Counts
from solver.milp.kinds import Kinds
from solver.milp.program import Program

OFF = 1e-4
"""An engine whose "integers" are farther off than this has not found any."""


def rounded(program: Program, values: Mapping[str, float]) -> Counts | None:
    """Round what was found; None unless every partition has exactly one seat.

    Returns
    -------
    dict or None
        Numbers at least 0 that add up to the count of each kind.
    """
    counts: Counts = {}
    for (k, c), var in program.given.items():
        value = values.get(var.name, 0.0)
        if not abs(value - (count := round(value) if abs(value) < 2**53 else -1)) < OFF:
            return None
        if count < 0:
            return None
        if count:
            counts[k, c] = count
    given = Counter[int]()
    for (k, _), count in counts.items():
        given[k] += count
    kinds = program.kinds.kinds
    fits = all(given[k] == kind.count for k, kind in enumerate(kinds))
    return counts if fits else None


def assignment_of(instance: Instance, kinds: Kinds, counts: Counts) -> Assignment:
    """Hand out the rows of each kind: lowest first, to its takers in order."""
    assignee = np.full(instance.n_partitions, NOBODY, dtype=np.int32)
    used = [0] * len(kinds.kinds)
    for (k, c), count in sorted(counts.items()):
        rows = kinds.kinds[k].rows[used[k] : used[k] + count]
        assignee[list(rows)] = c
        used[k] += count
    return Assignment(assignee=assignee)


def counts_of(kinds: Kinds, assignment: Assignment) -> Counts:
    """Count what each member takes of each kind."""
    counts: Counts = {}
    for k, kind in enumerate(kinds.kinds):
        holders = Counter(assignment.assignee[list(kind.rows)].tolist())
        counts.update({(k, c): n for c, n in sorted(holders.items())})
    return counts
