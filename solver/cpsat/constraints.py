"""Constraints on allowed assignments, one per function."""

from __future__ import annotations

from itertools import pairwise

from rebalance import NOBODY
from solver.cpsat.variables import CpProgram, Linear, ValueIn


def assign_each_partition_once(program: CpProgram) -> None:
    """Assign all partitions of each class: sum over m of x[k, m] = size[k]."""
    for class_, row in zip(program.cp.classes, program.x, strict=True):
        program.model.add(Linear.sum(list(row.values())) == class_.size)


def loads_in_region(program: CpProgram) -> None:
    """Bound each load by the region: least[m] ≤ sum over k of x[k, m] ≤ most[m].

    Bounds that follow from the eligible members alone are left out.
    """
    reach = [0] * len(program.cp.members)
    for class_, row in zip(program.cp.classes, program.x, strict=True):
        for member in row:
            reach[member] += class_.size
    for member, (least, most) in enumerate(program.region.loads):
        if least or most < reach[member]:
            program.load(member)


def pool_loads_in_region(program: CpProgram) -> None:
    """Bound each load of a topic: least[t, m] ≤ sum over k of t of x[k, m] ≤ most."""
    for pool, ranges in enumerate(program.region.pool_loads):
        for member, (least, most) in ranges.items():
            if most:
                load = program.pool_load(pool, member)
                program.model.add_linear_constraint(load, least, most)
        program.check()


def order_interchangeable(program: CpProgram) -> None:
    """Order interchangeable members by lag, else load: rank[m] ≥ rank[next m].

    `solver.cpsat.variables.interchangeable_members` proves that this loses nothing.
    """
    rank = program.lag if program.cp.distinctions.lags else program.load
    for group in program.interchangeable:
        for left, right in pairwise(group):
            program.model.add(rank(left) >= rank(right))


def balanced_by_kip54(program: CpProgram) -> None:
    """Exclude improving transfers: load[c] ≤ load[d] + 1 if d can take one of c's.

    For each pool g: floor[g] ≤ load[d] for each subscriber d, and load[c] ≤ floor[g] +
    1 for each c with holds[g, c], which is 1 where c holds some of the pool: sum over k
    of g of x[k, c] ≤ size[g] · holds[g, c]. These are few constraints per pool and
    subscriber, instead of one per partition and pair of members.

    Two more tighten the linear relaxation: sum over k of g of x[k, c] ≤ floor[g] +
    holds[g, c], and x[k, owner[k]] ≤ size[k] · holds[g, owner[k]].
    """
    for number, pool in enumerate(program.cp.pools):
        if len(pool.subscribers) > 1:
            _pool_balanced_by_kip54(program, number)
        program.check()


def _pool_balanced_by_kip54(program: CpProgram, number: int) -> None:
    model, pool, ranges = program.model, program.cp.pools[number], program.region.loads
    members = pool.subscribers
    most = min(ranges[m][1] for m in members)
    floor = program.derive(0, most, lambda t: min(t.loads[m] for m in members))
    holds = {m: program.derive(0, 1, _is_holding(number, m)) for m in members}
    for member in members:
        load = program.load(member)
        held = program.pool_load(number, member)
        model.add(floor <= load)
        model.add(held <= min(pool.size, ranges[member][1]) * holds[member])
        model.add(held <= floor + holds[member])
        model.add(load <= floor + 1).only_enforce_if(holds[member])
    for k in program.classes_of_pool[number]:
        one = program.cp.classes[k]
        if one.owner != NOBODY:
            model.add(program.x[k][one.owner] <= one.size * holds[one.owner])


def _is_holding(pool: int, member: int) -> ValueIn:
    return lambda totals: int(totals.pool_loads[pool].get(member, 0) > 0)


def spread_at_most(program: CpProgram, most: Linear | int) -> None:
    """Bound the spread: top - most ≤ unit[m] · load[m] ≤ top."""
    units, ranges = program.cp.units, program.region.loads
    largest = max(
        (unit * n for unit, (_, n) in zip(units, ranges, strict=True)), default=0
    )
    top = program.derive(0, largest, lambda t: max(t.weighted_loads, default=0))
    weighted = (unit * program.load(m) for m, unit in enumerate(units))
    program.bound_spread(weighted, top, most)


def moves_at_most(program: CpProgram, most: int) -> None:
    """Bound the moves: owned - sum over k of x[k, owner[k]] ≤ most."""
    program.model.add(program.kept() >= program.cp.owned - most)
