"""Rows of the objectives: one objective per function, with its formula.

Each returns a `Sum` to minimize. load[c] and lag[c] are sums over the partitions of
member c; s[c] is the common multiple of the capacities divided by that of c. Lags are
in lag units: the greatest common divisor of all lags is divided out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import gcd
from types import MappingProxyType
from typing import Final

from pulp import LpAffineExpression as Expression
from pulp import lpSum

from rebalance import NOBODY
from solver.milp.columns import NO_RACK
from solver.milp.milp_program import MilpProgram, range_of
from solver.objectives import scale_of
from solver.policy import Objective, WeightedObjective


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """A value to minimize: constant + unit * row."""

    row: Expression
    unit: int = 1
    constant: int = 0


def moves(program: MilpProgram) -> Sum:
    """Stickiness: owned - sum over owned classes k of given[k, owner of k]."""
    classes = program.case.classes
    kept = [
        program.given[k, each.owner]
        for k, each in enumerate(classes)
        if (k, each.owner) in program.given
    ]
    owned = sum(each.count for each in classes if each.owner != NOBODY)
    return Sum(row=-lpSum(kept), constant=owned)


def peak_lag(program: MilpProgram) -> Sum:
    """Peak lag: the least T with s[c] * lag[c] <= T for all c."""
    return Sum(row=_largest(program, _lags(program)), unit=program.case.lag_unit)


def topic_peak_lag(program: MilpProgram) -> Sum:
    """Peak lag by topic: sum of T[t], with s[c] * (lag of topic t with c) <= T[t]."""
    case = program.case
    peaks = [
        _largest(program, [case.unit(c) * program.lag(c, topic) for c in members])
        for topic, members in _members_of_topics(program).items()
    ]
    return Sum(row=lpSum(peaks), unit=case.lag_unit)


def per_topic_spread(program: MilpProgram) -> Sum:
    """Spread by topic: sum of H[t] - L[t], with L[t] <= s[c] * load[t, c] <= H[t]."""
    spreads = []
    for topic, members in _members_of_topics(program).items():
        loads = [program.case.unit(c) * program.load(c, topic) for c in members]
        spreads.append(_spread(program, loads))
    return Sum(row=lpSum(spreads))


def lag_spread(program: MilpProgram) -> Sum:
    """Lag spread: H - L, with L <= s[c] * lag[c] <= H for all c in play."""
    return Sum(row=_spread(program, _lags(program)), unit=program.case.lag_unit)


def load_spread(program: MilpProgram) -> Sum:
    """Spread: H - L, with L <= s[c] * load[c] <= H for all c in play."""
    case = program.case
    return Sum(
        row=_spread(program, [case.unit(c) * program.load(c) for c in case.in_play])
    )


def lag_deviation(program: MilpProgram) -> Sum:
    """Lag deviation: 2 * sum of O[c], O[c] >= W * lag[c] - w[c] * lag, O[c] >= 0.

    W is the sum of all capacities w in play, and lag the total: what exceeds the fair
    shares adds up to what falls short of them.
    """
    case = program.case
    lag = sum(each.lag * each.count for each in case.classes)
    excesses = []
    for c in case.in_play:
        excess = program.number((case.capacity_sum - case.capacity[c]) * lag)
        row = case.capacity_sum * program.lag(c) - excess
        program.at_most(row, case.capacity[c] * lag)
        excesses.append(excess)
    return Sum(row=lpSum(excesses), unit=2 * case.lag_unit)


def rack_mismatches(program: MilpProgram) -> Sum:
    """Racks: sum of given[k, c] where c has a rack and class k no replica in it."""
    case = program.case
    mismatched = [
        column
        for (k, c), column in program.given.items()
        if case.rack[c] != NO_RACK
        and (racks := case.classes[k].racks) is not None
        and case.rack[c] not in racks
    ]
    return Sum(row=lpSum(mismatched))


_SUMS: Final[Mapping[Objective, Callable[[MilpProgram], Sum]]] = MappingProxyType(
    {
        Objective.STICKINESS: moves,
        Objective.PEAK_LAG: peak_lag,
        Objective.TOPIC_PEAK_LAG: topic_peak_lag,
        Objective.LAG_SPREAD: lag_spread,
        Objective.LAG_DEVIATION: lag_deviation,
        Objective.RACK: rack_mismatches,
        Objective.PER_TOPIC_SPREAD: per_topic_spread,
    }
)
"""Every objective that is one integer; `load` is in `load_rows`."""


def weighted_sum(program: MilpProgram, objective: WeightedObjective) -> Sum:
    """Return an objective in units of 1 ÷ `scale_of`: the sum of weight * part."""
    instance = program.case.instance
    scale = scale_of(instance, objective)
    parts = []
    for weight, each in objective.terms:
        factor = weight * scale // scale_of(instance, WeightedObjective.of(each))
        parts.append((factor, _SUMS[each](program)))
    row = lpSum([factor * part.unit * part.row for factor, part in parts])
    unit = gcd(*row.values()) or 1
    return Sum(
        row=Expression((x, a // unit) for x, a in row.items()),
        unit=unit,
        constant=sum(factor * part.constant for factor, part in parts),
    )


def _largest(program: MilpProgram, rows: list[Expression]) -> Expression:
    """Return a number H with row <= H for all rows."""
    top = program.number(max((range_of(row)[1] for row in rows), default=0))
    for row in rows:
        program.at_most(row - top, 0)
    return top


def _spread(program: MilpProgram, rows: list[Expression]) -> Expression:
    """Return H - L, with numbers L <= row <= H for all rows."""
    bottom = program.number(min((range_of(row)[1] for row in rows), default=0))
    for row in rows:
        program.at_most(bottom - row, 0)
    return _largest(program, rows) - bottom


def _lags(program: MilpProgram) -> list[Expression]:
    """Return s[c] * lag[c] for all c in play."""
    case = program.case
    return [case.unit(c) * program.lag(c) for c in case.in_play]


def _members_of_topics(program: MilpProgram) -> dict[int, tuple[int, ...]]:
    """Return the subscribers of each topic with partitions."""
    case = program.case
    return {each.topic: case.groups[each.group] for each in case.classes}
