"""What is made small: one objective a function, each a linear expression.

Every derived variable is held from one side only; minimizing does the rest. Lags and
loads are in parts of the common capacity: ``unit[m]`` is common ÷ capacity[m].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from rebalance.errors import InstanceError
from rebalance.instance import ABSENT
from solver.cpsat.constraints import kept
from solver.cpsat.problem import Problem
from solver.cpsat.program import Linear, Program, Worth, total
from solver.objectives import largest_value
from solver.policy import Objective, WeightedObjective

ROOM: Final = 2**53
"""CP-SAT takes sums up to 2^62, but compares its bound with its value as doubles: past
2^53 it calls optimal what is some units off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """An objective: ``expression ÷ scale``; no plan makes it less than 0."""

    expression: Linear
    scale: int = 1


def measure(program: Program, level: WeightedObjective) -> Measure:
    """Return a level: the sum of its terms, on the least common scale.

    Its sums must have been found small enough by `refuse_too_large`.
    """
    largest = largest_value(program.problem.instance, level)
    program.largest = max(program.largest, largest)
    parts = [(weight, _MEASURES[one](program)) for weight, one in level.terms]
    scale = math.lcm(*(part.scale for _, part in parts))
    expression = total([])
    for weight, part in parts:
        expression = expression + weight * (scale // part.scale) * part.expression
    return Measure(expression=expression, scale=scale)


def moves(program: Program) -> Measure:
    """Count moves: moved + sum over k of x[k, owner[k]] = owned."""
    owned = program.problem.owned
    moved = program.define(0, owned, lambda t: owned - t.kept)
    program.model.add(moved + kept(program) == owned)
    return Measure(expression=moved)


def peak_lag(program: Program) -> Measure:
    """Bound every lag: unit[m] · lag[m] ≤ peak."""
    problem = program.problem
    units = problem.units
    peak = program.define(
        0, problem.common * problem.total_lag, lambda t: _most(units, t.lags)
    )
    for member, unit in enumerate(units):
        program.model.add(program.lag(member, unit) <= peak)
    return Measure(expression=peak, scale=problem.common)


def topic_peak_lag(program: Program) -> Measure:
    """Bound every topic's lags: unit[m] · lag[t, m] ≤ peak[t]; add the peaks up."""
    problem = program.problem
    peaks = []
    for pool in range(len(problem.pools)):
        lag = sum(
            program.kinds[k].lag * program.kinds[k].amount
            for k in program.kinds_of_pool[pool]
        )
        peak = program.define(
            0,
            problem.common * lag,
            _pool_peak(problem, pool),
        )
        for member in program.face.seats[pool]:
            unit = problem.units[member]
            program.model.add(program.pool_lag(pool, member, unit) <= peak)
        peaks.append(peak)
        program.check()
    return Measure(expression=total(peaks), scale=problem.common)


def lag_spread(program: Program) -> Measure:
    """Hold all lags between two: bottom ≤ unit[m] · lag[m] ≤ top; top - bottom."""
    problem = program.problem
    units, most = problem.units, problem.common * problem.total_lag
    top = program.define(0, most, lambda t: _most(units, t.lags))
    bottom = program.define(0, most, lambda t: _least(units, t.lags))
    for member, unit in enumerate(units):
        weighed = program.lag(member, unit)
        program.model.add(weighed <= top)
        program.model.add(bottom <= weighed)
    program.model.add(bottom <= top)
    return Measure(expression=top - bottom, scale=problem.common)


def lag_deviation(program: Program) -> Measure:
    """Add up what members have beyond their share of the lag, twice.

    With S the sum of capacities and L that of lags: over[m] ≥ S · lag[m] - L ·
    capacity[m], over[m] ≥ 0. Differences add up to 0, so those above the shares are
    together as large as those below.
    """
    problem = program.problem
    shares, whole = sum(problem.capacity), problem.total_lag
    over = []
    for member, capacity in enumerate(problem.capacity):
        fair = whole * capacity
        one = program.define(
            0,
            shares * whole,
            _excess(member, shares, fair),
        )
        program.model.add(program.lag(member, shares) - one <= fair)
        over.append(one)
    return Measure(expression=2 * total(over), scale=max(1, shares))


def rack(program: Program) -> Measure:
    """Count partitions far from their member's rack.

    WeightedObjective of x[k, m] over the m whose rack is one of far[k].
    """
    racks = program.problem.racks
    far = [
        x
        for kind, row in zip(program.kinds, program.x, strict=True)
        for member, x in row.items()
        if racks[member] != ABSENT and racks[member] in kind.far
    ]
    return Measure(expression=total(far))


def per_topic_spread(program: Program) -> Measure:
    """Hold shares of a topic between two, and add up how far apart these are.

    bottom[t] ≤ unit[m] · load[t, m] ≤ top[t]; sum over t of top[t] - bottom[t].
    """
    problem = program.problem
    tops, bottoms = [], []
    for number, pool in enumerate(problem.pools):
        if len(pool.subscribers) < 2:
            continue
        members, most = pool.subscribers, problem.common * pool.size
        top = program.define(0, most, _share(problem, number, max))
        bottom = program.define(0, most, _share(problem, number, min))
        for member in members:
            share = program.pool_load(number, member, problem.units[member])
            program.model.add(share <= top)
            program.model.add(bottom <= share)
        tops.append(top)
        bottoms.append(bottom)
        program.check()
    return Measure(expression=total(tops) - total(bottoms), scale=problem.common)


def _pool_peak(problem: Problem, pool: int) -> Worth:
    units = problem.units
    return lambda tally: max(
        (units[m] * lag for m, lag in tally.pool_lags[pool].items()), default=0
    )


def _excess(member: int, shares: int, fair: int) -> Worth:
    return lambda tally: max(0, shares * tally.lags[member] - fair)


def _share(problem: Problem, pool: int, pick: Callable[[Iterable[int]], int]) -> Worth:
    """Pick one of the loads of a pool, over its subscribers."""
    units, members = problem.units, problem.pools[pool].subscribers
    return lambda tally: pick(
        units[m] * tally.pool_loads[pool].get(m, 0) for m in members
    )


def _most(units: tuple[int, ...], amounts: list[int]) -> int:
    return max((u * n for u, n in zip(units, amounts, strict=True)), default=0)


def _least(units: tuple[int, ...], amounts: list[int]) -> int:
    return min((u * n for u, n in zip(units, amounts, strict=True)), default=0)


def refuse_too_large(problem: Problem, level: WeightedObjective) -> None:
    """Refuse a level with a sum past what CP-SAT can add up.

    Raises
    ------
    InstanceError
        Names the level.
    """
    largest = largest_value(problem.instance, level)
    if largest > ROOM:
        raise InstanceError(
            f"policy: {level} could reach {largest}; cp-sat is exact up to 2^53",
            subject=problem.instance.group,
        )


_MEASURES: Final[Mapping[Objective, Callable[[Program], Measure]]] = {
    Objective.STICKINESS: moves,
    Objective.PEAK_LAG: peak_lag,
    Objective.TOPIC_PEAK_LAG: topic_peak_lag,
    Objective.LAG_SPREAD: lag_spread,
    Objective.LAG_DEVIATION: lag_deviation,
    Objective.RACK: rack,
    Objective.PER_TOPIC_SPREAD: per_topic_spread,
}
"""Every objective that is a number; `solver.cpsat.loads` has the one that is none."""
