"""Rows of the objectives: one objective per function, with its formula.

Each returns the expression to minimize. load[c] and lag[c] are sums over the partitions
of member c; s[c] is the common multiple of the capacities divided by that of c. Lags in
rows are in lag units: the greatest common divisor of all lags is divided out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Final

from pulp import LpAffineExpression as Expression
from pulp import LpVariable, lpSum

from rebalance import ABSENT, NOBODY
from solver.limits import LimitExceededError
from solver.milp.milp_program import MilpProgram, range_of
from solver.objectives import scale_of
from solver.policy import Objective, WeightedObjective

Steps = dict[tuple[int, int], LpVariable]
"""(Member, n) to the column that is 1 if the member has n partitions or more."""

STEPS_MAX: Final = 50_000
ENTRIES_MAX: Final = 1_000_000
"""Largest number of unary steps, and of entries of the rows over them."""


def moves(program: MilpProgram) -> Expression:
    """Stickiness: owned - sum over owned classes k of given[k, owner of k]."""
    classes = program.case.classes
    kept = [
        program.given[k, each.owner]
        for k, each in enumerate(classes)
        if (k, each.owner) in program.given
    ]
    owned = sum(each.count for each in classes if each.owner != NOBODY)
    return owned - lpSum(kept)


def peak_lag(program: MilpProgram) -> Expression:
    """Peak lag: the least T with s[c] * lag[c] <= T for all c."""
    return program.case.lag_unit * _largest(program, _lags(program))


def topic_peak_lag(program: MilpProgram) -> Expression:
    """Peak lag by topic: sum of T[t], with s[c] * (lag of topic t with c) <= T[t]."""
    case = program.case
    peaks = [
        _largest(program, [case.unit(c) * program.lag(c, topic) for c in members])
        for topic, members in _members_of_topics(program).items()
    ]
    return case.lag_unit * lpSum(peaks)


def per_topic_spread(program: MilpProgram) -> Expression:
    """Spread by topic: sum of H[t] - L[t], with L[t] <= s[c] * load[t, c] <= H[t]."""
    spreads = []
    for topic, members in _members_of_topics(program).items():
        loads = [program.case.unit(c) * program.load(c, topic) for c in members]
        spreads.append(_spread(program, loads))
    return lpSum(spreads)


def lag_spread(program: MilpProgram) -> Expression:
    """Lag spread: H - L, with L <= s[c] * lag[c] <= H for all c in play."""
    return program.case.lag_unit * _spread(program, _lags(program))


def load_spread(program: MilpProgram) -> Expression:
    """Spread: H - L, with L <= s[c] * load[c] <= H for all c in play."""
    case = program.case
    return _spread(program, [case.unit(c) * program.load(c) for c in case.in_play])


def lag_deviation(program: MilpProgram) -> Expression:
    """Lag deviation: 2 * sum of O[c], O[c] >= W * lag[c] - w[c] * lag, O[c] >= 0.

    W is the sum of all capacities w in play, and lag the total: the excess over the
    fair shares equals the shortfall below them.
    """
    case = program.case
    lag = sum(each.lag * each.count for each in case.classes)
    capacity = sum(case.capacity[c] for c in case.in_play)
    excesses = []
    for c in case.in_play:
        excess = program.number((capacity - case.capacity[c]) * lag)
        program.at_most(capacity * program.lag(c) - excess, case.capacity[c] * lag)
        excesses.append(excess)
    return 2 * case.lag_unit * lpSum(excesses)


def rack_mismatches(program: MilpProgram) -> Expression:
    """Racks: sum of given[k, c] where c has a rack and class k no replica in it."""
    case = program.case
    given = case.instance.racks
    rack = [] if given is None else given.member.tolist()
    return lpSum(
        column
        for (k, c), column in program.given.items()
        if (racks := case.classes[k].racks) is not None
        and rack[c] not in {ABSENT, *racks}
    )


_SUMS: Final[Mapping[Objective, Callable[[MilpProgram], Expression]]] = {
    Objective.STICKINESS: moves,
    Objective.PEAK_LAG: peak_lag,
    Objective.TOPIC_PEAK_LAG: topic_peak_lag,
    Objective.LAG_SPREAD: lag_spread,
    Objective.LAG_DEVIATION: lag_deviation,
    Objective.RACK: rack_mismatches,
    Objective.PER_TOPIC_SPREAD: per_topic_spread,
}
"""Every objective that is one integer; for `load`, there is `reaching_rows`."""


def weighted_sum(program: MilpProgram, objective: WeightedObjective) -> Expression:
    """Return an objective in units of 1 ÷ `scale_of`: the sum of weight * part."""
    instance = program.case.instance
    scale = scale_of(instance, objective)
    total, constant = Expression(), 0
    for weight, each in objective.terms:
        factor = weight * scale // scale_of(instance, WeightedObjective.of(each))
        part = _SUMS[each](program)
        total += factor * part
        constant += factor * int(part.constant)
    return Expression(dict(total), constant=constant)  # PuLP's own sum is a double


def unary_loads(program: MilpProgram, high: Sequence[int]) -> Steps:
    """Write the loads in unary, and bound them by high[c].

    load[c] = sum over n of step[c, n],  step[c, n] >= step[c, n + 1],  steps in {0, 1}.

    Raises
    ------
    LimitExceededError
        If there would be more than `STEPS_MAX` steps.
    """
    if sum(high) > STEPS_MAX:
        raise LimitExceededError(f"a program of {sum(high)} unary steps is too large")
    steps: Steps = {}
    for c in program.case.in_play:
        columns = [program.integer(0, 1) for _ in range(high[c])]
        program.equal(program.load(c) - lpSum(columns), 0)
        for column, following in pairwise(columns):
            program.at_least(column - following, 0)
        steps.update({(c, n): column for n, column in enumerate(columns, 1)})
    return steps


def reaching_rows(program: MilpProgram, top: int) -> dict[int, Expression]:
    """Load: reaching[v] = number of c with s[c] * load[c] >= v, for all v descending.

    Load vectors are compared by how many members reach the largest value, then the
    next, and so on: the least vector has the lexicographically least (reaching[v]).
    No s[c] * load[c] exceeds ``top``, and no load the partitions that c can be
    assigned, however large the capacities are.

    Raises
    ------
    LimitExceededError
        If there would be more than `STEPS_MAX` steps, or `ENTRIES_MAX` entries.
    """
    case, reachable = program.case, program.case.reachable
    high = [0] * len(case.capacity)
    for c in case.in_play:
        high[c] = min(top // case.unit(c), reachable[c])
    steps = unary_loads(program, high)
    values = sorted({case.unit(c) * n for c, n in steps}, reverse=True)
    entries = len(values) * len(case.in_play)
    if entries > ENTRIES_MAX:
        raise LimitExceededError(f"rows of {entries} unary steps are too large")
    rows = {}
    for value in values:
        program.limits.spend_on_entries(len(case.in_play))
        program.limits.check()
        # Member c reaches the value with its ceil(value / s[c])-th partition.
        first = [(c, -(-value // case.unit(c))) for c in case.in_play]
        rows[value] = lpSum(steps[place] for place in first if place in steps)
    return rows


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
