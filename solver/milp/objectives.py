"""One objective, one function; its formula is in the docstring.

Each returns a `Goal`: terms to minimize, whose least sum is an integer. load[c] and
lag[c] are sums over what member c takes; s[c] is the common multiple of capacities
divided by that of c. Numbers with a common divisor are divided by it (``unit``), so
that those in the program stay as small as they can.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import gcd
from typing import Final

import pulp

from solver.milp.kinds import UNTOLD
from solver.milp.program import Goal, Program, Terms, merged
from solver.policy import Objective

SUM_MAX: Final = 2**26
"""Sums of lag up to here are told apart by doubles for certain (`safety`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Members:
    """What objectives and balances need to know of the members.

    Attributes
    ----------
    play : tuple of int
        Members in play.
    capacity : tuple of int, (M,)
    common : int
        Least common multiple of the capacities in play.
    rack : tuple of int, (M,)
        -1 none.
    """

    play: tuple[int, ...]
    capacity: tuple[int, ...]
    common: int
    rack: tuple[int, ...]

    def unit(self, member: int) -> int:
        """Return what one partition or record weighs with a member: s[c]."""
        return self.common // self.capacity[member]

    @property
    def shares(self) -> int:
        """WeightedObjective of the capacities in play, at least 1."""
        return max(1, sum(self.capacity[c] for c in self.play))


def moves(program: Program) -> Goal:
    """Stickiness: owned - sum over owned kinds k of given[k, owner of k]."""
    owned, kept = 0, []
    for k, kind in enumerate(program.kinds.kinds):
        if kind.owner != UNTOLD:
            owned += kind.count
            if kind.owner in program.seats[k]:
                kept.append((program.given[k, kind.owner], -1))
    return Goal(terms=kept, constant=owned)


def peak_lag(program: Program, members: Members) -> Goal:
    """Peak lag: the least T with s[c] · lag[c] <= T for all c.

    Lags too large for doubles are taken in whole units, the rest dropped: the least T
    is then a bound (`_coarse`).
    """
    lags, unit, exact = _coarse(
        [_scaled(program.lag(c), members.unit(c)) for c in members.play]
    )
    return Goal(terms=[(_above(program, lags), 1)], unit=unit, exact=exact)


def topic_peak_lag(program: Program, members: Members) -> Goal:
    """Peak lag by topic: sum of T[t], s[c] · (lag of topic t with c) <= T[t]."""
    by_topic = _topics(program, members, lambda kind_lag: kind_lag)
    lags, unit, exact = _coarse([terms for topic in by_topic for terms in topic])
    tops = [(_above(program, sums), 1) for sums in _regrouped(lags, by_topic)]
    return Goal(terms=tops, unit=unit, exact=exact)


def per_topic_spread(program: Program, members: Members) -> Goal:
    """Spread by topic: sum of H[t] - L[t], L[t] <= s[c] · load[t, c] <= H[t]."""
    by_topic = _topics(program, members, lambda _: 1)
    flat, unit = _reduced([terms for topic in by_topic for terms in topic])
    terms: Terms = []
    for loads in _regrouped(flat, by_topic):
        terms += [(_above(program, loads), 1), (_below(program, loads), -1)]
    return Goal(terms=terms, unit=unit)


def load_spread(program: Program, members: Members) -> Goal:
    """Spread: H - L with L <= s[c] · load[c] <= H for all c in play."""
    loads, unit = _reduced(
        [_scaled(program.load(c), members.unit(c)) for c in members.play]
    )
    if not loads:
        return Goal(terms=[])
    return Goal(
        terms=[(_above(program, loads), 1), (_below(program, loads), -1)], unit=unit
    )


def lag_spread(program: Program, members: Members) -> Goal:
    """Lag spread: H - L with L <= s[c] · lag[c] <= H for all c in play."""
    lags, unit = _reduced(
        [_scaled(program.lag(c), members.unit(c)) for c in members.play]
    )
    if not lags:
        return Goal(terms=[])
    return Goal(
        terms=[(_above(program, lags), 1), (_below(program, lags), -1)], unit=unit
    )


def lag_deviation(program: Program, members: Members) -> Goal:
    """Lag deviation: 2 · sum of O[c], O[c] >= W · lag[c] - w[c] · total, O[c] >= 0.

    W is the sum of all w in play. What is above its share adds up to what is below.
    """
    shares = members.shares
    total = sum(kind.lag * kind.count for kind in program.kinds.kinds)
    lags = [_scaled(program.lag(c), shares) for c in members.play]
    fair = [members.capacity[c] * total for c in members.play]
    unit = gcd(*fair, *(factor for terms in lags for _, factor in terms)) or 1
    over: Terms = []
    for terms, share in zip(lags, fair, strict=True):
        above = program.real(0, shares * total // unit)
        row = merged([(1, [(v, a // unit) for v, a in terms]), (-1, [(above, 1)])])
        program.at_most(row, share // unit)
        over.append((above, 1))
    return Goal(terms=over, unit=2 * unit)


def rack_mismatches(program: Program, members: Members) -> Goal:
    """Racks: sum of given[k, c] where c has a rack and kind k no replica in it."""
    terms = [
        (taken, 1)
        for (k, c), taken in program.given.items()
        if members.rack[c] >= 0
        and (near := program.kinds.kinds[k].near) is not None
        and members.rack[c] not in near
    ]
    return Goal(terms=terms)


def weighted(goals: list[tuple[int, Goal]]) -> Goal:
    """Sum: each goal times its weight, the common divisor of all taken out."""
    parts = [(w * goal.unit, goal.terms) for w, goal in goals]
    terms = merged(parts)
    unit = gcd(*(factor for _, factor in terms)) or 1
    return Goal(
        terms=[(var, factor // unit) for var, factor in terms],
        unit=unit,
        constant=sum(w * goal.constant for w, goal in goals),
        exact=all(goal.exact for _, goal in goals),
    )


def _scaled(terms: Terms, factor: int) -> Terms:
    return [(var, a * factor) for var, a in terms]


def _reduced(sums: list[Terms]) -> tuple[list[Terms], int]:
    """Divide all coefficients by their common divisor; return it too."""
    unit = gcd(*(factor for terms in sums for _, factor in terms)) or 1
    return [[(var, a // unit) for var, a in terms] for terms in sums], unit


def _coarse(sums: list[Terms]) -> tuple[list[Terms], int, bool]:
    """Divide by a common divisor, or rounding down if that leaves sums too large.

    A sum of parts rounded down, times the unit, is never above the sum: so what no
    smaller T allows is a bound, though no longer the least value itself.
    """
    exact, unit = _reduced(sums)
    excess = -(-max(map(_most, exact), default=0) // SUM_MAX)
    if excess <= 1:
        return exact, unit, True
    parts = [[(var, a // excess) for var, a in terms] for terms in exact]
    return [[(v, a) for v, a in terms if a] for terms in parts], unit * excess, False


def _most(terms: Terms) -> int:
    return sum(a * int(var.upBound) for var, a in terms)


def _above(program: Program, sums: list[Terms]) -> pulp.LpVariable:
    """Make a variable that no sum is above."""
    top = program.real(0, max(map(_most, sums), default=0))
    for terms in sums:
        if terms:
            program.at_most([*terms, (top, -1)], 0)
    return top


def _below(program: Program, sums: list[Terms]) -> pulp.LpVariable:
    """Make a variable that no sum is below."""
    bottom = program.real(0, min(map(_most, sums), default=0))
    for terms in sums:
        program.at_least([*terms, (bottom, -1)], 0)
    return bottom


def _topics(
    program: Program, members: Members, amount: Callable[[int], int]
) -> list[list[Terms]]:
    """WeightedObjective an amount of each topic by subscriber, times s[c]."""
    takers: dict[int, tuple[int, ...]] = {}
    for kind in program.kinds.kinds:
        takers[kind.topic] = program.kinds.takers(kind)
    return [
        [
            [
                (var, amount(kind.lag) * members.unit(c))
                for kind, var in program.of_topic(c, topic)
                if amount(kind.lag)
            ]
            for c in subscribers
        ]
        for topic, subscribers in takers.items()
    ]


def _regrouped(flat: list[Terms], like: list[list[Terms]]) -> list[list[Terms]]:
    """Undo the flattening of lists of sums."""
    at = iter(flat)
    return [[next(at) for _ in some] for some in like]


_PLAIN: Final[Mapping[Objective, Callable[[Program, Members], Goal]]] = {
    Objective.STICKINESS: lambda program, _: moves(program),
    Objective.PEAK_LAG: peak_lag,
    Objective.TOPIC_PEAK_LAG: topic_peak_lag,
    Objective.LAG_SPREAD: lag_spread,
    Objective.LAG_DEVIATION: lag_deviation,
    Objective.RACK: rack_mismatches,
    Objective.PER_TOPIC_SPREAD: per_topic_spread,
}
"""Every objective that is one integer."""


def goal_of(
    program: Program, members: Members, terms: list[tuple[int, Objective]]
) -> Goal:
    """Return a level as one goal; each term is (weight in the level's units, which)."""
    return weighted([(w, _PLAIN[which](program, members)) for w, which in terms])
