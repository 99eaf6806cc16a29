"""What every allowed assignment meets: one constraint a function."""

from __future__ import annotations

from itertools import pairwise

from rebalance.claims import NOBODY
from solver.cpsat.program import Linear, Program, Worth, total


def each_partition_once(program: Program) -> None:
    """Give each partition one seat: sum over m of x[k, m] = count[k]."""
    for kind, row in zip(program.kinds, program.x, strict=True):
        program.model.add(total(row.values()) == kind.amount)


def loads_within(program: Program) -> None:
    """Keep loads on the face: least[m] ≤ sum over k of x[k, m] ≤ most[m].

    Limits that the seats alone imply are left out.
    """
    can = [0] * len(program.problem.members)
    for kind, row in zip(program.kinds, program.x, strict=True):
        for member in row:
            can[member] += kind.amount
    for member, (least, most) in enumerate(program.face.loads):
        if least or most < can[member]:
            program.load(member)


def pool_loads_within(program: Program) -> None:
    """Keep shares of a topic: least[t, m] ≤ sum over k of t of x[k, m] ≤ most[t, m]."""
    for pool, limits in enumerate(program.face.pool_loads):
        for member, (least, most) in limits.items():
            if most:
                share = program.pool_load(pool, member)
                program.model.add_linear_constraint(share, least, most)
        program.check()


def alike_in_order(program: Program) -> None:
    """Order members that are alike: rank[m] ≥ rank[next m], rank the load or the lag.

    Loses nothing: `solver.cpsat.alike` tells why.
    """
    for group in program.alike:
        for left, right in pairwise(group):
            if program.problem.looks.lags:
                program.model.add(program.lag(left) >= program.lag(right))
            else:
                program.model.add(program.load(left) >= program.load(right))


def balanced_by_kip54(program: Program) -> None:
    """Let no transfer improve: load[c] ≤ load[d] + 1 where c holds what d may take.

    For each pool g of topics with the same subscribers: floor[g] ≤ load[d] for each of
    them, and load[c] ≤ floor[g] + 1 for each that holds some, which holds[g, c] tells:
    sum over k of g of x[k, c] ≤ size[g] · holds[g, c]. So there are few constraints a
    pool and subscriber, instead of one a partition and pair.

    Two more say the same of fractions: sum over k of g of x[k, c] ≤ floor[g] +
    holds[g, c], and x[k, owner[k]] ≤ count[k] · holds[g, owner[k]].
    """
    for number, pool in enumerate(program.problem.pools):
        if len(pool.subscribers) > 1:
            _pool_balanced_by_kip54(program, number)
        program.check()


def _pool_balanced_by_kip54(program: Program, number: int) -> None:
    model, pool = program.model, program.problem.pools[number]
    members = pool.subscribers
    most = min(program.face.loads[m][1] for m in members)
    floor = program.define(0, most, lambda t: min(t.loads[m] for m in members))
    holds = {m: program.define(0, 1, _is_holding(number, m)) for m in members}
    for member in members:
        model.add(floor <= program.load(member))
        share = program.pool_load(number, member)
        limit = min(pool.size, program.face.loads[member][1])
        model.add(share <= limit * holds[member])
        model.add(share <= floor + holds[member])
        model.add(program.load(member) <= floor + 1).only_enforce_if(holds[member])
    for k in program.kinds_of_pool[number]:
        owner, amount = program.kinds[k].owner, program.kinds[k].amount
        if owner != NOBODY:
            model.add(program.x[k][owner] <= amount * holds[owner])


def _is_holding(pool: int, member: int) -> Worth:
    return lambda tally: int(tally.pool_loads[pool].get(member, 0) > 0)


def spread_at_most(program: Program, most: Linear | int) -> None:
    """Keep loads together: bottom ≤ load[m] ÷ capacity[m] ≤ bottom + most.

    In parts of the common capacity.
    """
    units = program.problem.units
    members = range(len(units))
    top = max((units[m] * program.face.loads[m][1] for m in members), default=0)
    bottom = program.define(
        0, top, lambda t: min((units[m] * t.loads[m] for m in members), default=0)
    )
    for member in members:
        weighed = units[member] * program.load(member)
        program.model.add(bottom <= weighed)
        program.model.add(weighed <= bottom + most)


def moves_at_most(program: Program, most: int) -> None:
    """Keep to the budget: owned - sum over k of x[k, owner[k]] ≤ most."""
    program.model.add(kept(program) >= program.problem.owned - most)


def kept(program: Program) -> Linear:
    """Add up what stays: sum over k of x[k, owner[k]]."""
    return total(
        row[kind.owner]
        for kind, row in zip(program.kinds, program.x, strict=True)
        if kind.owner != NOBODY and kind.owner in row
    )
