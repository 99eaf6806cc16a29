"""Objectives as linear expressions, one per function.

Each derived variable is bounded from one side only; minimization does the rest. Lags
and loads are weighted: unit[m] is the common capacity / capacity[m].
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from ortools.sat.python.cp_model import IntVar

from rebalance import ABSENT, InstanceError
from solver.cpsat.cp_instance import CpInstance, CpTotals
from solver.cpsat.variables import CpProgram, Linear, total
from solver.objectives import largest_value, scale_of
from solver.policy import Objective, WeightedObjective

VALUE_MAX: Final = 2**53
"""CP-SAT computes sums up to 2^62, but compares its bound with its value as doubles:
beyond 2^53 it calls values optimal that are some units off."""


def reject_too_large(cp: CpInstance, objective: WeightedObjective) -> None:
    """Reject an objective with a sum that CP-SAT cannot compare exactly.

    Raises
    ------
    InstanceError
        Names the objective.
    """
    largest = largest_value(cp.instance, objective)
    if largest > VALUE_MAX:
        raise InstanceError(
            f"policy: {objective} could reach {largest}; cp-sat is exact up to 2^53",
            subject=cp.instance.group,
        )


def objective_expression(program: CpProgram, objective: WeightedObjective) -> Linear:
    """Return the weighted sum, in units of 1 / `solver.objectives.scale_of`.

    `reject_too_large` must have accepted the objective.
    """
    instance = program.cp.instance
    program.largest = max(program.largest, largest_value(instance, objective))
    scale = scale_of(instance, objective)
    expression = total([])
    for weight, measure in objective.terms:
        units = scale // scale_of(instance, WeightedObjective.of(measure))
        expression = expression + weight * units * _EXPRESSIONS[measure](program)
    return expression


def moves(program: CpProgram) -> Linear:
    """Count the moves: moved + sum over k of x[k, owner[k]] = owned."""
    owned = program.cp.owned
    moved = program.derive(0, owned, lambda totals: owned - totals.kept)
    program.model.add(moved + program.kept() == owned)
    return moved


def peak_lag(program: CpProgram) -> Linear:
    """Bound every lag: unit[m] · lag[m] ≤ peak."""
    most = program.cp.common * program.cp.total_lag
    peak = program.derive(0, most, lambda t: max(t.weighted_lags, default=0))
    for member, unit in enumerate(program.cp.units):
        program.model.add(program.lag(member, unit) <= peak)
    return peak


def topic_peak_lag(program: CpProgram) -> Linear:
    """Sum the peaks of all topics: sum over t of peak[t]."""
    pools = range(len(program.cp.pools))
    return total([_pool_peak_lag(program, pool) for pool in pools])


def _pool_peak_lag(program: CpProgram, pool: int) -> IntVar:
    """Bound every lag of a topic: unit[m] · lag[t, m] ≤ peak[t]."""
    program.check()
    cp, units = program.cp, program.cp.units
    classes = [cp.classes[k] for k in program.classes_of_pool[pool]]
    peak = program.derive(
        0,
        cp.common * sum(class_.lag * class_.size for class_ in classes),
        lambda t: max((units[m] * n for m, n in t.pool_lags[pool].items()), default=0),
    )
    for member in program.region.eligible[pool]:
        program.model.add(program.lag(member, units[member], pool=pool) <= peak)
    return peak


def lag_spread(program: CpProgram) -> Linear:
    """Bound all lags: top - spread ≤ unit[m] · lag[m] ≤ top."""
    most = program.cp.common * program.cp.total_lag
    top = program.derive(0, most, lambda t: max(t.weighted_lags, default=0))
    spread = program.derive(0, most, lambda t: _spread(t.weighted_lags))
    units = enumerate(program.cp.units)
    program.bound_spread((program.lag(m, unit) for m, unit in units), top, spread)
    return spread


def _spread(weighted: Sequence[int]) -> int:
    return max(weighted, default=0) - min(weighted, default=0)


def lag_deviation(program: CpProgram) -> Linear:
    """Sum the lag that members have beyond their fair share, twice.

    With S the sum of capacities and L that of lags: over[m] ≥ S · lag[m] - L ·
    capacity[m], over[m] ≥ 0. All differences sum to 0, so the positive ones sum to as
    much as the negative ones.
    """
    shares, whole = sum(program.cp.capacity), program.cp.total_lag

    def over(member: int, fair: int) -> IntVar:
        excess = program.derive(
            0, shares * whole, lambda t: max(0, shares * t.lags[member] - fair)
        )
        program.model.add(program.lag(member, shares) - excess <= fair)
        return excess

    capacities = enumerate(program.cp.capacity)
    return 2 * total([over(m, whole * capacity) for m, capacity in capacities])


def rack(program: CpProgram) -> Linear:
    """Count mismatches: sum of x[k, m] over the m whose rack is one of far[k]."""
    racks = program.cp.racks
    return total(
        x
        for class_, row in zip(program.cp.classes, program.x, strict=True)
        for member, x in row.items()
        if racks[member] != ABSENT and racks[member] in class_.far
    )


def per_topic_spread(program: CpProgram) -> Linear:
    """Sum the spreads of all topics: sum over t of spread[t]."""
    pools = enumerate(program.cp.pools)
    shared = [number for number, pool in pools if len(pool.subscribers) > 1]
    return total(_pool_spread(program, number) for number in shared)


def _pool_spread(program: CpProgram, number: int) -> IntVar:
    """Bound the loads of a topic: top - spread ≤ unit[m] · load[t, m] ≤ top."""
    program.check()
    pool, units = program.cp.pools[number], program.cp.units
    most = program.cp.common * pool.size

    def loads(totals: CpTotals) -> list[int]:
        held = totals.pool_loads[number]
        return [units[m] * held.get(m, 0) for m in pool.subscribers]

    top = program.derive(0, most, lambda totals: max(loads(totals)))
    spread = program.derive(0, most, lambda totals: _spread(loads(totals)))
    weighted = (program.pool_load(number, m, units[m]) for m in pool.subscribers)
    program.bound_spread(weighted, top, spread)
    return spread


_EXPRESSIONS: Final[Mapping[Objective, Callable[[CpProgram], Linear]]] = {
    Objective.STICKINESS: moves,
    Objective.PEAK_LAG: peak_lag,
    Objective.TOPIC_PEAK_LAG: topic_peak_lag,
    Objective.LAG_SPREAD: lag_spread,
    Objective.LAG_DEVIATION: lag_deviation,
    Objective.RACK: rack,
    Objective.PER_TOPIC_SPREAD: per_topic_spread,
}
"""All objectives but ``load``, which is a vector (`solver.cpsat.load_vector`)."""
