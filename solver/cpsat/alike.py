"""Members that are alike, and one order for them.

Two members are alike when they subscribe to the same pools, have the same capacity
and rack, and own equally many partitions of each sort. To exchange them, together with
what they own, changes no load but theirs, and theirs only with each other: it takes
allowed assignments to allowed ones of the same value. So of all assignments that differ
in nothing else it is enough to look at one, that in which they stand in falling order.
"""

from __future__ import annotations

from rebalance.claims import NOBODY
from solver.cpsat.plan import Plan, Tally
from solver.cpsat.problem import Problem

Sort = tuple[int, int, tuple[int, ...]]


def alike_members(problem: Problem) -> list[list[int]]:
    """List the groups of two or more members that are alike."""
    owned: list[list[tuple[Sort, int]]] = [[] for _ in problem.members]
    for pool, owner, lag, far, count in problem.kinds:
        if owner != NOBODY:
            owned[owner].append(((pool, lag, tuple(sorted(far))), count))
    groups: dict[object, list[int]] = {}
    for member, pools in enumerate(problem.pools_of()):
        rack = problem.racks[member] if problem.looks.racks else None
        about = (tuple(pools), problem.capacity[member], rack, tuple(owned[member]))
        groups.setdefault(about, []).append(member)
    return [group for group in groups.values() if len(group) > 1]


def rank_of(problem: Problem, tally: Tally) -> list[int]:
    """Return the figure of each member by which alike ones are ordered."""
    return tally.lags if problem.looks.lags else tally.loads


def arranged(problem: Problem, groups: list[list[int]], plan: Plan) -> Plan:
    """Exchange alike members, and what they own, so that they stand in order."""
    rank = rank_of(problem, Tally.of(problem, plan))
    place = list(range(len(problem.members)))
    for group in groups:
        for to, member in zip(
            group, sorted(group, key=lambda m: -rank[m]), strict=True
        ):
            place[member] = to
    number = {kind[:4]: k for k, kind in enumerate(problem.kinds)}
    moved: Plan = [{} for _ in plan]
    for kind, given in zip(problem.kinds, plan, strict=True):
        owner = kind.owner if kind.owner == NOBODY else place[kind.owner]
        to = number[kind.pool, owner, kind.lag, kind.far]
        moved[to] = {place[member]: count for member, count in given.items()}
    return moved
