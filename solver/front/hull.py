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
from solver.front.counts import Counts, Pair, Plan
from solver.limits import Limits
from solver.polynomial.mincost import flow_of

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
    network = _Network(counts, top)
    if not counts.partitions or network.arcs.shape[1] > ARCS_MAX or limits.struck():
        return
    left = network.solve(counts.partitions * top + 1, 1)
    right = network.solve(1, counts.owned + 1)
    if left is None or right is None:
        return
    yield left
    yield right
    lines = [(left, right)]
    while lines and not limits.struck():
        left, right = lines.pop(0)
        if right.moves - left.moves < _WIDE:
            continue
        prices = left.squares - right.squares, right.moves - left.moves
        middle = network.solve(*prices)
        if middle is None:
            return
        if left.moves < middle.moves < right.moves:
            yield middle
            lines += [(left, middle), (middle, right)]
        else:
            yield from _on_line(network, *prices, limits)


def _on_line(
    network: _Network, per_move: int, per_square: int, limits: Limits
) -> Iterator[Corner]:
    """Yield plans that are best at the same prices, with moves of many numbers."""

    def solve(kept: int) -> Corner | None:
        return network.solve(per_move, per_square, kept=kept)

    most = len(network.counts.own)
    ranges = [(0, solve(0), most, solve(most))]
    while ranges and not limits.struck():
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


class _Network:
    """Topics to members, what members own at a gain; members to a sink."""

    def __init__(self, counts: Counts, top: int) -> None:
        self.counts = counts
        topics = {topic: place for place, topic in enumerate(counts.supply)}
        first, sink = len(topics), len(topics) + counts.members
        self.pairs: list[Pair] = [*counts.own, *counts.pairs]
        rooms = [*counts.own.values(), *(counts.supply[t] for t, _ in counts.pairs)]
        given = [
            (topics[topic], first + c, room)
            for (topic, c), room in zip(self.pairs, rooms, strict=True)
        ]
        reached = [(first + c, sink, 1) for c in range(counts.members)] * top
        columns = np.array([*given, *reached], np.int64).reshape(-1, 3).T
        self.arcs = np.vstack((columns, np.zeros((1, columns.shape[1]), np.int64)))
        levels = np.repeat(np.arange(1, top + 1), counts.members)
        self.squares: Int64 = 2 * levels - 1
        supply = [*counts.supply.values(), *[0] * counts.members, -counts.partitions]
        self.supply = np.array(supply, np.int64)

    def solve(
        self, per_move: int, per_square: int, *, kept: int | None = None
    ) -> Corner | None:
        """Return what is cheapest at these prices; None if the library cannot say.

        With ``kept`` the first so many of what members own are rather kept than what
        is as cheap, and the others rather moved.
        """
        counts, owned = self.counts, len(self.counts.own)
        fine = 1 if kept is None else 2 * counts.owned + 1
        self.arcs[3, :owned] = -per_move * fine
        if kept is not None:
            self.arcs[3, :kept] -= 1
            self.arcs[3, kept:owned] += 1
        self.arcs[3, len(self.pairs) :] = per_square * fine * self.squares
        flow = flow_of(self.arcs, self.supply)
        if flow.size < self.arcs.shape[1]:
            return None
        plan: dict[Pair, int] = {}
        for pair, n in zip(self.pairs, flow.tolist(), strict=False):
            if n:
                plan[pair] = plan.get(pair, 0) + n
        squares = sum(load * load for load in counts.loads(plan))
        return Corner(counts.moves(plan), squares, plan)
