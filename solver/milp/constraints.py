"""One constraint, one function; its formula is in the docstring.

given[k, c] counts the partitions of kind k that member c takes; load[c] is its sum over
k. A constraint of the balance is exact: it neither cuts off an assignment that the
balance allows nor lets another one in.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from solver.milp.objectives import moves
from solver.milp.program import Program, Terms, merged, minus
from solver.milp.quotas import Quota
from solver.milp.windows import group_sizes, reachable, windows_of


def each_partition_once(program: Program) -> None:
    """Give every partition to one seat: sum over c of given[k, c] = count[k]."""
    for k, kind in enumerate(program.kinds.kinds):
        program.equal([(program.given[k, c], 1) for c in program.seats[k]], kind.count)


def loads_between(program: Program, low: Sequence[int], high: Sequence[int]) -> None:
    """Keep every load in its window: low[c] <= load[c] <= high[c]."""
    for member, (least, most) in enumerate(zip(low, high, strict=True)):
        load = program.load(member)
        if least == most:
            program.equal(load, least)
        else:
            program.at_least(load, least)
            program.at_most(load, most)


def quotas_kept(program: Program, quotas: Iterable[Quota]) -> None:
    """Keep every topic even: low <= sum over k of topic t of given[k, c] <= high."""
    for quota in quotas:
        taken = program.of_topic(quota.member, quota.topic)
        count: Terms = [(var, 1) for _, var in taken]
        program.at_least(count, quota.low)
        program.at_most(count, quota.high)


def no_transfer_evens(program: Program) -> None:
    """KIP-54: who holds a partition has at most one more than its other subscribers.

    For each set g of subscribers, floor[g] <= load[d] for d in g; for c in g, and
    holds[g, c] in {0, 1}:

    - given[k, c] <= count[k] · holds[g, c] for kinds k of g,
    - load[c] <= floor[g] + 1 + M · (1 - holds[g, c]),

    with M = high[c] - low[g] - 1: no load is above high[c], no floor below low[g], the
    least low[d] in g (`windows_of`). Where M <= 0 the row is always true.
    """
    windows = windows_of(program.kinds)
    loads_between(program, windows.low, windows.high)
    of_group: list[list[int]] = [[] for _ in program.kinds.groups]
    for k, kind in enumerate(program.kinds.kinds):
        of_group[kind.group].append(k)
    sizes = group_sizes(program.kinds)
    for group, takers in enumerate(program.kinds.groups):
        low = min(windows.low[d] for d in takers)
        risky = [c for c in takers if windows.high[c] > low + 1]
        if len(takers) == 1 or not risky:
            continue
        most = min(windows.high[d] for d in takers)
        floor = program.whole(low, most)
        for d in takers:
            program.at_least(merged([(1, program.load(d)), (-1, [(floor, 1)])]), 0)
        for c in risky:
            holds = program.whole(0, 1)
            slack = windows.high[c] - low - 1
            row = merged([(1, program.load(c)), (1, [(floor, -1), (holds, slack)])])
            program.at_most(row, 1 + slack)
            all_of_it = [(program.given[k, c], 1) for k in of_group[group]]
            reach = min(sizes[group], windows.high[c])
            program.at_most([*all_of_it, (holds, -reach)], 0)
            for k in of_group[group]:
                count = program.kinds.kinds[k].count
                if count < reach:
                    program.at_most([(program.given[k, c], 1), (holds, -count)], 0)


def loads_within(program: Program, units: Sequence[int | None], most: int) -> None:
    """Spread: least <= unit[c] · load[c] <= least + most, for members in play.

    Parameters
    ----------
    units : sequence of int or None
        Common denominator ÷ capacity of each member; None if it is not in play.
    most : int
        In the same units.
    """
    reach = reachable(program.kinds)
    top = max((u * reach[c] for c, u in enumerate(units) if u is not None), default=0)
    if most >= top:
        return
    least = program.real(0, top)
    for member, unit in enumerate(units):
        if unit is not None:
            load = merged([(unit, program.load(member)), (-1, [(least, 1)])])
            program.at_least(load, 0)
            program.at_most(load, most)


def moves_within(program: Program, most: int) -> None:
    """Budget: sum of the owned partitions not with their owner <= most."""
    goal = moves(program)
    program.at_most(goal.terms, most - goal.constant)


def alike_in_order(program: Program, alike: Iterable[Sequence[int]]) -> None:
    """Order members that are alike: load[c] >= load[d] for the next one, d."""
    for members in alike:
        for c, d in pairwise(members):
            row = merged([(1, program.load(c)), (1, minus(program.load(d)))])
            program.at_least(row, 0)
