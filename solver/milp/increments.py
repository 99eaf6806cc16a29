"""Dec-min as a linear program: one unit of load after the other, each dearer.

    minimize  sum of rank[c, n] · unit[c, n]
    where     sum over c of flow[g, c] = partitions of group g,
              sum over g of flow[g, c] = low[c] + sum over n of unit[c, n],
              0 <= flow, 0 <= unit <= 1,

rank[c, n] numbers the keys of `solver.milp.chains`, the least first. Rows and
columns are those of a network, so every vertex is integral, and ranks grow with n, so
units come in order. On the set of all assignments any cost that grows with the key has
exactly the dec-min ones as its least (M-convexity). What comes out is still checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pulp

from solver.limits import Limits
from solver.milp.backend import Request, Run
from solver.milp.chains import Held, Key, key_of
from solver.milp.kinds import Kinds
from solver.milp.refusals import too_many
from solver.milp.windows import group_sizes, reachable, windows_of

UNITS_MAX: Final = 200_000
"""More units of load than this, and PuLP alone takes seconds."""

Flows = dict[tuple[int, int], pulp.LpVariable]


def increments(
    kinds: Kinds, capacity: Sequence[int], limits: Limits
) -> tuple[Request, Flows]:
    """Write the program.

    Raises
    ------
    TooLargeError
        If it has more than `UNITS_MAX` units of load.
    """
    lp = pulp.LpProblem("increments")
    sizes = group_sizes(kinds)
    flows: Flows = {}
    into: list[list[pulp.LpVariable]] = [[] for _ in capacity]
    for group, takers in enumerate(kinds.groups):
        for c in takers:
            flow = lp.add_variable(f"f{len(flows):08d}", 0, sizes[group])
            flows[group, c] = flow
            into[c].append(flow)
        lp.addConstraint(_row([(flows[group, c], 1) for c in takers], sizes[group]))
    low, high = _window(kinds, capacity)
    keys = [
        (key_of(n, w), c, n)
        for c, w in enumerate(capacity)
        for n in range(low[c] + 1, high[c] + 1)
    ]
    costs = _ranks(keys)
    units: list[list[pulp.LpVariable]] = [[] for _ in capacity]
    objective: list[tuple[pulp.LpVariable, int]] = []
    for (_, c, _), cost in zip(keys, costs, strict=True):
        unit = lp.add_variable(f"u{len(objective):08d}", 0, 1)
        units[c].append(unit)
        objective.append((unit, cost))
    for c, flowing in enumerate(into):
        if flowing:
            row = [(f, 1) for f in flowing] + [(u, -1) for u in units[c]]
            lp.addConstraint(_row(row, low[c]))
    lp.setObjective(pulp.LpAffineExpression(objective))
    return Request(lp=lp, limits=limits, relaxed=True), flows


def held_by(kinds: Kinds, flows: Flows, run: Run) -> Held:
    """Round the flows."""
    values = run.values or {}
    held: dict[int, dict[int, int]] = {group: {} for group in range(len(kinds.groups))}
    for (group, c), flow in flows.items():
        held[group][c] = round(values.get(flow.name, 0.0))
    return held


def _window(
    kinds: Kinds, capacity: Sequence[int]
) -> tuple[Sequence[int], Sequence[int]]:
    """Bound the loads; with capacities only by what there is to take."""
    most = reachable(kinds)
    if set(capacity) <= {1}:
        windows = windows_of(kinds)
        low, high = windows.low, windows.high
    else:
        low, high = (0,) * len(most), tuple(most)
    if sum(high) - sum(low) > UNITS_MAX:
        raise too_many(sum(high) - sum(low))
    return low, high


def _ranks(keys: Sequence[tuple[Key, int, int]]) -> list[int]:
    rank = {key: n for n, key in enumerate(sorted({key for key, _, _ in keys}))}
    return [rank[key] for key, _, _ in keys]


def _row(terms: list[tuple[pulp.LpVariable, int]], right: int) -> pulp.LpConstraint:
    expression = pulp.LpAffineExpression(terms)
    return pulp.LpConstraint(expression, pulp.LpConstraintEQ, rhs=right)
