"""Bounds that anybody can add up again, without any program (docs/bounds.md)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from rebalance import Instance
from rebalance.documents import BoundTerm
from solver.milp.kinds import Kind, Kinds
from solver.milp.objectives import Members
from solver.objectives import capacities, common_capacity, in_play
from solver.policy import Objective, WeightedObjective

ZERO = BoundTerm(kind="zero", bound=0)


def terms_of(
    level: WeightedObjective, kinds: Kinds, members: Members
) -> list[BoundTerm]:
    """Return bounds on a level's value, in its units; the first is 0.

    They hold for every complete valid assignment, whatever the balance.
    """
    if level != WeightedObjective.of(Objective.PEAK_LAG):
        return [ZERO]
    lags = sorted(
        (kind.lag for kind in kinds.kinds for _ in range(kind.count)), reverse=True
    )
    if not lags or not lags[0]:
        return [ZERO]
    crowds = [lags[0]]
    if len(lags) > len(members.play):
        crowds.append(lags[len(members.play)])  # two of these meet on one member
    return [
        ZERO,
        _average(sum(lags), members.common, members.shares),
        *(_crowd(kinds, members, least) for least in dict.fromkeys(crowds) if least),
    ]


def plain_terms(instance: Instance, level: WeightedObjective) -> list[BoundTerm]:
    """Return the bounds that need a look at the columns only."""
    if level != WeightedObjective.of(Objective.PEAK_LAG) or instance.lag is None:
        return [ZERO]
    reduced = instance.topic_subscribed[instance.partition_topic]
    weights = zip(capacities(instance), in_play(instance).tolist(), strict=True)
    shares = max(1, sum(weight for weight, here in weights if here))
    total = int(instance.lag[reduced].sum())
    return [ZERO, _average(total, common_capacity(instance), shares)]


def _average(lag: int, common: int, shares: int) -> BoundTerm:
    """All lag, shared by capacity: ceil(scale · sum of lag ÷ sum of capacities)."""
    return BoundTerm(kind="average", bound=-(-common * lag // shares))


def _crowd(kinds: Kinds, members: Members, least: int) -> BoundTerm:
    """Bound by room for the partitions of at least so much lag.

    If no lag ÷ capacity is above T - 1, each member has room for so many of the
    smallest of them; if that is fewer than there are, the peak is T or more.
    """
    found = [kind for kind in kinds.kinds if kind.lag >= least]
    count = sum(kind.count for kind in found)
    sums = _smallest_sums(kinds, members, found)

    def room(peak: int) -> int:
        return sum(
            bisect_right(known, peak // members.unit(c)) for c, known in sums.items()
        )

    low, high = (
        0,
        max(
            (known[-1] * members.unit(c) for c, known in sums.items() if known),
            default=0,
        ),
    )
    while low < high:
        middle = (low + high) // 2
        if room(middle) < count:
            low = middle + 1
        else:
            high = middle
    return BoundTerm(kind="crowd", bound=low, at_least=least)


def _smallest_sums(
    kinds: Kinds, members: Members, found: Sequence[Kind]
) -> dict[int, list[int]]:
    """Sum the smallest 1, 2, ... lags that a member may take, for each in play."""
    wanted: dict[int, set[int]] = {c: set() for c in members.play}
    for group, takers in enumerate(kinds.groups):
        for c in takers:
            wanted[c].add(group)
    of: dict[frozenset[int], list[int]] = {}
    sums = {}
    for c, groups in wanted.items():
        key = frozenset(groups)
        if key not in of:
            lags = [k.lag for k in found for _ in k.rows if k.group in groups]
            of[key] = list(accumulate(sorted(lags)))
        sums[c] = of[key]
    return sums
