"""How little can lie above a threshold within a budget of moves: exact, by flows.

The *excess* above t is the sum over members of max(0, load − t). Fewest moves for an
excess of at most e is a min-cost flow, whole-numbered for every t and e, and convex in
e. So with the price of λ moves for a unit of excess,

    L(t, λ) = min over assignments of  moves + λ · excess above t,

at most k moves leave an excess of at least

    max over λ = 1, 2, ... of  ceil((L(t, λ) − k) ÷ λ),

and no less than that is the truth: the slopes of a convex function with whole-numbered
corners are whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from solver.limits import Limits
from solver.pareto.counts import Counts
from solver.pareto.network import Network


@dataclass(frozen=True, slots=True, kw_only=True)
class Excess:
    """Bounds of the excess above each threshold.

    Attributes
    ----------
    least : tuple of (price, cost) pairs by threshold
        ``cost`` is L(t, price) for the threshold that is the place.
    """

    least: Sequence[Sequence[tuple[int, int]]]

    @property
    def top(self) -> int:
        """The largest threshold that is known of."""
        return len(self.least) - 1

    def at(self, budget: int) -> list[int]:
        """Return what lies above each threshold at least, with so many moves."""
        return [
            max((-((budget - cost) // price) for price, cost in priced), default=0)
            for priced in self.least
        ]


def excess_of(counts: Counts, limits: Limits) -> Excess:
    """Bound the excess above every threshold that matters, while limits allow.

    A threshold that no assignment without moves need pass is the last. A limit that
    strikes leaves the rest out: what is there stays true.
    """
    least: list[list[tuple[int, int]]] = []
    thresholds = _Thresholds(counts)
    while True:
        priced = list(_prices(thresholds, len(least), limits))
        least.append([(price, max(0, cost)) for price, cost in priced])
        if limits.exceeded() or not least[-1] or max(c for _, c in least[-1]) == 0:
            return Excess(least=least)


def _prices(
    thresholds: _Thresholds, threshold: int, limits: Limits
) -> Iterator[tuple[int, int]]:
    """Yield L for a price past all moves, then from 1 on until more can buy nothing.

    The first tells how little there can be at all; the others, within a few moves.
    """
    dear = thresholds.counts.owned + 1
    cost, fewest = thresholds.solve(threshold, dear)
    yield dear, cost
    for price in range(1, dear):
        if limits.exceeded():
            return
        cost, excess = thresholds.solve(threshold, price)
        yield price, cost
        if excess == fewest:
            return


class _Thresholds:
    """Two rungs: up to the threshold, at no cost, and above it, at the price."""

    def __init__(self, counts: Counts) -> None:
        self.counts = counts
        self.network = Network(counts, 2)
        self.network.cost[: self.network.owned] = -1

    def solve(self, threshold: int, price: int) -> tuple[int, int]:
        """Return the least of moves + price · excess, and the excess there."""
        counts, network = self.counts, self.network
        below, above = network.rung(0), network.rung(1)
        network.room[below] = threshold
        network.room[above], network.cost[above] = counts.partitions, price
        flow = network.flow()
        if flow is None:
            raise AssertionError("a flow that has a solution")
        cost = int((flow * network.cost).sum())
        return cost + counts.owned, int(flow[above].sum())
