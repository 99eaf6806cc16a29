"""The plans on the lower hull of moves and sum of squares, by flows.

With a price for a move and one for a unit of squares the best plan is a min-cost flow:
squares are convex, so a member's v-th partition may be an arc of its own that costs
2v − 1. Nothing with as many moves, or fewer, has less squares than such a plan. From
the two ends the line between two plans gives the prices to look for one below it.

Where nothing is below a line, more plans may be on it. At its prices keeping is told to
be worth a trifle more for some topics and members, and a trifle less for the others:
the more there are of the former, the fewer partitions move.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from rebalance.claims import Int64
from solver.limits import Limits
from solver.pareto.counts import Counts, Pair, Plan
from solver.pareto.network import Network

ARCS_MAX: Final = 60_000
"""More take a flow too long to be within a limit, for it cannot be ended."""

_WIDE: Final = 2
"""Only so far apart is there something between two numbers."""


class Corner(NamedTuple):
    """A plan, and what it comes to."""

    moves: int
    squares: int
    plan: Plan


def corners(counts: Counts, top: int, limits: Limits) -> Iterator[Corner]:
    """Yield plans on the hull, ends first, until a limit strikes."""
    prices = _Prices(counts, top)
    if (
        not counts.partitions
        or prices.network.cost.size > ARCS_MAX
        or limits.exceeded()
    ):
        return
    left = prices.solve(counts.partitions * top + 1, 1)
    right = prices.solve(1, counts.owned + 1)
    if left is None or right is None:
        return
    yield left
    yield right
    lines = [(left, right)]
    while lines and not limits.exceeded():
        left, right = lines.pop(0)
        if right.moves - left.moves < _WIDE:
            continue
        line = left.squares - right.squares, right.moves - left.moves
        middle = prices.solve(*line)
        if middle is None:
            return
        if left.moves < middle.moves < right.moves:
            yield middle
            lines += [(left, middle), (middle, right)]
        else:
            yield from _on_line(prices, *line, limits)


def _on_line(
    prices: _Prices, per_move: int, per_square: int, limits: Limits
) -> Iterator[Corner]:
    """Yield plans that are best at the same prices, with moves of many numbers."""

    def solve(kept: int) -> Corner | None:
        return prices.solve(per_move, per_square, kept=kept)

    most = prices.network.owned
    ranges = [(0, solve(0), most, solve(most))]
    while ranges and not limits.exceeded():
        start, before, end, after = ranges.pop(0)
        if before is None or after is None:
            return
        if before.moves - after.moves < _WIDE or end - start < _WIDE:
            continue
        middle = solve((start + end) // 2)
        if middle is not None:
            yield middle
        ranges.append((start, before, (start + end) // 2, middle))
        ranges.append(((start + end) // 2, middle, end, after))


class _Prices:
    """Squares on rungs: the v-th partition of a member costs 2v − 1 units of them."""

    def __init__(self, counts: Counts, top: int) -> None:
        self.counts = counts
        self.network = Network(counts, top)
        self.network.room[self.network.rungs] = 1
        levels = np.repeat(np.arange(1, top + 1), counts.members)
        self.squares: Int64 = 2 * levels - 1

    def solve(
        self, per_move: int, per_square: int, *, kept: int | None = None
    ) -> Corner | None:
        """Return what is cheapest at these prices; None if the library cannot say.

        With ``kept`` the first so many of what members own are rather kept than what
        is as cheap, and the others rather moved.
        """
        network, owned = self.network, self.network.owned
        fine = 1 if kept is None else 2 * self.counts.owned + 1
        network.cost[:owned] = -per_move * fine
        if kept is not None:
            network.cost[:kept] -= 1
            network.cost[kept:owned] += 1
        network.cost[network.rungs] = per_square * fine * self.squares
        flow = network.flow()
        return None if flow is None else self._corner(flow)

    def _corner(self, flow: Int64) -> Corner:
        plan: dict[Pair, int] = {}
        for pair, n in zip(self.network.pairs, flow.tolist(), strict=False):
            if n:
                plan[pair] = plan.get(pair, 0) + n
        squares = sum(load * load for load in self.counts.loads(plan))
        return Corner(self.counts.moves(plan), squares, plan)
