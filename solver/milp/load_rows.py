"""Loads in unary: the rows for dec-min and for the objective ``load``.

    load[c] = sum over n of step[c, n],  step[c, n] >= step[c, n + 1],  steps in {0, 1}.

Dec-min without other objectives is a convex flow: minimize the sum of rank[c, n] *
step[c, n], where rank numbers the keys of `dec_min_face`, the least first. Its linear
relaxation is a network, and on the set of all assignments any cost that grows with the
key has exactly the dec-min ones as its optima (M-convexity).

In general, load vectors are compared by how many members reach the largest value, then
the next, and so on: with reaching[v] = number of c with s[c] * load[c] >= v, the least
vector has the lexicographically least (reaching[v] for v descending).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from pulp import LpAffineExpression as Expression
from pulp import LpVariable, lpSum

from rebalance import Assignment
from solver.milp.columns import MilpInstance
from solver.milp.dec_min_face import DecMinFace, dec_min_face, key_of
from solver.milp.milp_program import MilpProgram

Steps = dict[tuple[int, int], LpVariable]
"""(Member, n) to the column that is 1 if the member has n partitions or more."""


def unary_loads(program: MilpProgram, high: Sequence[int]) -> Steps:
    """Write the loads in unary, and bound them by high[c]."""
    steps: Steps = {}
    for c in program.case.in_play:
        columns = [program.integer(0, 1) for _ in range(high[c])]
        program.equal(program.load(c) - lpSum(columns), 0)
        for column, following in pairwise(columns):
            program.at_least(column - following, 0)
        steps.update({(c, n): column for n, column in enumerate(columns, 1)})
    return steps


def dec_min_cost(case: MilpInstance, steps: Steps) -> Expression:
    """Return the sum of rank[c, n] * step[c, n]."""
    keys = {place: key_of(place[1], case.capacity[place[0]]) for place in steps}
    rank = {key: n for n, key in enumerate(sorted(set(keys.values())))}
    return Expression((column, rank[keys[place]]) for place, column in steps.items())


def face_of_assignment(case: MilpInstance, assignment: Assignment) -> DecMinFace | None:
    """Return the dec-min face of an assignment; None if it is not dec-min."""
    held = [Counter[int]() for _ in case.groups]
    for each in case.classes:
        held[each.group].update(assignment.assignee[list(each.rows)].tolist())
    return dec_min_face(case.groups, held, case.capacity)


def reaching_rows(program: MilpProgram, top: int) -> dict[int, Expression]:
    """Return reaching[v] for all v descending; no s[c] * load[c] exceeds ``top``."""
    case = program.case
    high = [0] * len(case.capacity)
    for c in case.in_play:
        high[c] = top // case.unit(c)
    steps = unary_loads(program, high)
    rows = {}
    for value in sorted({case.unit(c) * n for c, n in steps}, reverse=True):
        # Member c reaches the value with its ceil(value / s[c])-th partition.
        first = [(c, -(-value // case.unit(c))) for c in case.in_play]
        rows[value] = lpSum(steps[place] for place in first if place in steps)
    return rows


def vector_of(
    values: Sequence[int], reaching: Sequence[int], members: int
) -> tuple[int, ...]:
    """Return the least load vector with reaching[v] for the first values v."""
    vector: list[int] = []
    for value, count in zip(values, reaching, strict=False):
        vector += [value] * (count - len(vector))
    return tuple(vector + [0] * (members - len(vector)))
