"""Pareto frontiers by enumeration of every assignment: slow, and obvious.

Reaches into `solver.objectives` to value single assignments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np

from rebalance import NOBODY, Assignment, Instance
from solver import Objective, WeightedObjective
from solver.objectives import value_of

Value = Callable[[Instance, Assignment], int]
Corners = list[tuple[int, int]]


def eligible_members(instance: Instance) -> list[list[int]]:
    """Return the eligible members of each partition; nobody without a subscriber."""
    wants = [set(instance.topics_of(m).tolist()) for m in range(len(instance.members))]
    by_topic = [
        [m for m, topics in enumerate(wants) if t in topics] or [NOBODY]
        for t in range(len(instance.topics))
    ]
    return [by_topic[t] for t in instance.partition_topic.tolist()]


def size(instance: Instance) -> int:
    """Return the number of assignments."""
    found = 1
    for member in eligible_members(instance):
        found *= len(member)
    return found


def every_assignment(instance: Instance) -> Iterator[Assignment]:
    for chosen in product(*eligible_members(instance)):
        yield Assignment(assignee=np.array(chosen, dtype=np.int32))


def moves(instance: Instance, assignment: Assignment) -> int:
    pairs = zip(instance.owner.tolist(), assignment.assignee.tolist(), strict=True)
    return sum(owner not in (NOBODY, holder) for owner, holder in pairs)


def squares(instance: Instance, assignment: Assignment) -> int:
    return int(sum(n**2 for n in assignment.loads(instance).tolist()))


def peak_lag(instance: Instance, assignment: Assignment) -> int:
    value = value_of(instance, assignment, WeightedObjective.of(Objective.PEAK_LAG))
    assert isinstance(value, int)
    return value


def frontier(
    instance: Instance,
    value: Value,
    allowed: Callable[[Assignment], bool] = lambda _: True,
) -> Corners:
    """Return every Pareto-optimal pair of moves and value."""
    best: dict[int, int] = {}
    for assignment in every_assignment(instance):
        if allowed(assignment):
            k, v = moves(instance, assignment), value(instance, assignment)
            best[k] = min(v, best.get(k, v))
    corners: Corners = []
    for k in sorted(best):
        if not corners or best[k] < corners[-1][1]:
            corners.append((k, best[k]))
    return corners


def is_off_the_hull(corners: Corners) -> bool:
    """Return whether some corner lies above a line between two others."""
    return any(
        (b[1] - a[1]) * (c[0] - a[0]) > (c[1] - a[1]) * (b[0] - a[0])
        for i, a in enumerate(corners)
        for j, b in enumerate(corners[i + 1 :], i + 1)
        for c in corners[j + 1 :]
    )
