"""Rows of the balances and of the move budget: one constraint per function.

given[k, c] is the number of partitions of class k that member c is assigned; load[c] is
its sum over k. The rows of a balance are exact: they exclude no assignment that the
balance allows, and allow no other.
"""

from __future__ import annotations

from collections.abc import Sequence

from pulp import LpVariable, lpSum

from solver.milp.counted_limits import CountedLimits
from solver.milp.dec_min_face import DecMinFace, topic_load_limits
from solver.milp.milp_program import MilpProgram
from solver.milp.objective_rows import load_spread, moves
from solver.milp.partition_classes import MilpInstance
from solver.policy import Balance, BalanceKind


def policy_program(
    case: MilpInstance,
    limits: CountedLimits,
    balance: Balance,
    *,
    max_moves: int | None = None,
    face: DecMinFace | None = None,
) -> MilpProgram:
    """Create the program of a balance and a move budget.

    DEC_MIN requires its face; without one, its program is that of NONE.
    """
    program = MilpProgram(case, limits, None if face is None else face.groups)
    assign_each_partition_once(program)
    if face is not None:
        loads_between(program, face.low, face.high)
    elif balance.kind is BalanceKind.KIP54:
        no_transfer_evens(program)
    elif balance.kind is BalanceKind.PER_TOPIC:
        topics_even(program)
    elif balance.kind is BalanceKind.SPREAD:
        spread_within(program, balance.most or 0)
    if max_moves is not None:
        moves_within(program, max_moves)
    return program


def assign_each_partition_once(program: MilpProgram) -> None:
    """Assign every partition to one member: sum over c of given[k, c] = count[k]."""
    columns: list[list[LpVariable]] = [[] for _ in program.case.classes]
    for (k, _), column in program.given.items():
        columns[k].append(column)
    for each, listed in zip(program.case.classes, columns, strict=True):
        program.equal(lpSum(listed), each.count)


def loads_between(
    program: MilpProgram, low: Sequence[int], high: Sequence[int]
) -> None:
    """Keep every load within its bounds: low[c] <= load[c] <= high[c]."""
    for c in program.case.in_play:
        load = program.load(c)
        program.at_least(load, low[c])
        program.at_most(load, high[c])


def topics_even(program: MilpProgram) -> None:
    """KIP-169: low[t, c] <= load[t, c] <= high[t, c], dec-min within each topic."""
    case = program.case
    sizes: dict[tuple[int, int], int] = {}
    for each in case.classes:
        place = each.topic, each.group
        sizes[place] = sizes.get(place, 0) + each.count
    for (topic, group), size in sizes.items():
        members = case.groups[group]
        limits = topic_load_limits([case.capacity[c] for c in members], size)
        for c, (low, high) in zip(members, limits, strict=True):
            load = program.load(c, topic)
            program.at_least(load, low)
            program.at_most(load, high)


def no_transfer_evens(program: MilpProgram) -> None:
    """KIP-54: a holder has at most one partition more than the other subscribers.

    For each set g of subscribers, floor[g] <= load[d] for d in g; for c in g, and
    holds[g, c] in {0, 1}:

    - given[k, c] <= count[k] * holds[g, c] for the classes k of g,
    - load[c] <= floor[g] + 1 + M * (1 - holds[g, c]),

    with M = high[c] - low[g] - 1: no load exceeds high[c], and no floor is below
    low[g], the least low[d] in g (`kip54_load_bounds`). For M <= 0 the row is implied.
    """
    case = program.case
    sizes = case.group_sizes
    low, high = kip54_load_bounds(case)
    loads_between(program, low, high)
    for group, members in enumerate(case.groups):
        lowest = min(low[d] for d in members)
        slack = {c: high[c] - lowest - 1 for c in members if high[c] > lowest + 1}
        if len(members) == 1 or not slack:
            continue
        floor = program.integer(lowest, min(high[d] for d in members))
        for d in members:
            program.at_least(program.load(d) - floor, 0)
        classes = [k for k, each in enumerate(case.classes) if each.group == group]
        for c, big_m in slack.items():
            holds = program.integer(0, 1)
            row = program.load(c) - floor + big_m * holds
            program.at_most(row, 1 + big_m)
            most = min(sizes[group], high[c])
            assigned = lpSum(program.given[k, c] for k in classes)
            program.at_most(assigned - most * holds, 0)
            for k in classes:
                count = min(case.classes[k].count, high[c])
                program.at_most(program.given[k, c] - count * holds, 0)


def kip54_load_bounds(case: MilpInstance) -> tuple[list[int], list[int]]:
    """Return the least and largest load that each member has when KIP-54 balanced.

    - A member with load n leaves the rest of its topics to itself and to members with
      n + 1 or fewer: n + (s - 1)(n + 1) >= reach, with s subscribers that share a
      topic with it, hence n >= floor(reach ÷ s).
    - A member with load h that holds a partition of group g has h - 1 or more in all
      others of g: h + (|g| - 1)(h - 1) <= near, the partitions of all groups that
      share a member with g, hence h <= 1 + floor(near ÷ |g|).
    """
    sizes, reach = case.group_sizes, case.reachable
    groups_of: list[list[int]] = [[] for _ in reach]
    for group, members in enumerate(case.groups):
        for c in members:
            groups_of[c].append(group)
    highest = []
    for members in case.groups:
        touched = {group for c in members for group in groups_of[c]}
        highest.append(1 + sum(sizes[group] for group in touched) // len(members))
    low, high = [], []
    for c, groups in enumerate(groups_of):
        sharing = {d for group in groups for d in case.groups[group]}
        low.append(reach[c] // max(1, len(sharing)))
        high.append(min(reach[c], max((highest[g] for g in groups), default=0)))
    return low, high


def spread_within(program: MilpProgram, most: int) -> None:
    """Spread: H - L <= most * common (`objective_rows.load_spread`)."""
    program.at_most(load_spread(program), most * program.case.common)


def moves_within(program: MilpProgram, most: int) -> None:
    """Budget: the number of owned partitions that leave their owner <= most."""
    program.at_most(moves(program), most)
