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

import numpy as np

from solver.front.counts import Counts
from solver.limits import Limits
from solver.polynomial.mincost import flow_of


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
    flow = _Network(counts)
    while True:
        priced = list(_prices(flow, len(least), limits))
        least.append([(price, max(0, cost)) for price, cost in priced])
        if limits.struck() or not least[-1] or max(c for _, c in least[-1]) == 0:
            return Excess(least=least)


def _prices(
    flow: _Network, threshold: int, limits: Limits
) -> Iterator[tuple[int, int]]:
    """Yield L for price after price, until more can buy nothing."""
    dear = flow.counts.owned + 1
    _, fewest = flow.solve(threshold, dear)
    for price in range(1, dear + 1):
        if limits.struck():
            return
        cost, excess = flow.solve(threshold, price)
        yield price, cost
        if excess == fewest:
            return


class _Network:
    """Topics to members, what members own at no cost; members to a sink."""

    def __init__(self, counts: Counts) -> None:
        self.counts = counts
        topics = {topic: place for place, topic in enumerate(counts.supply)}
        first, sink = len(topics), len(topics) + counts.members
        arcs = [
            (topics[topic], first + c, room, cost)
            for topic, c in counts.pairs
            for room, cost in (
                (counts.own.get((topic, c), 0), -1),
                (counts.supply[topic], 0),
            )
        ]
        members = [(first + c, sink, 0, 0) for c in range(counts.members)]
        self.arcs = np.array([*arcs, *members, *members], np.int64).T.copy()
        supply = [*counts.supply.values(), *[0] * counts.members, -counts.partitions]
        self.supply = np.array(supply, np.int64)

    def solve(self, threshold: int, price: int) -> tuple[int, int]:
        """Return the least of moves + price · excess, and the excess there."""
        counts, arcs = self.counts, self.arcs
        if not counts.members:
            return 0, 0
        below = slice(-2 * counts.members, -counts.members)
        above = slice(-counts.members, None)
        arcs[2, below] = threshold
        arcs[2, above], arcs[3, above] = counts.partitions, price
        flow = flow_of(arcs, self.supply)
        if flow.size < arcs.shape[1]:
            raise AssertionError("a flow that has a solution")
        cost = int((flow * arcs[3]).sum())
        return cost + counts.owned, int(flow[above].sum())
