"""Plans per topic and member, and the supported ones for moves and sum of squares.

A plan that minimizes α · moves + β · squares lies on the lower convex hull of the
frontier (it is *supported*), and no plan with at most as many moves has a lower sum of
squares. It is a min-cost flow from topics over members to a sink: squares are convex,
so the v-th partition of a member is an arc of its own that costs 2v − 1. From the two
ends, the slope between two plans gives the next prices. Source: Aneja and Nair,
*Bicriteria transportation problem*, 1979.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from rebalance import NOBODY, Assignment, Instance, Int32, Int64
from solver.exact import subscribed_pairs
from solver.flow_policies import min_cost_flow
from solver.limits import Limits

ARCS_MAX: Final = 60_000
"""A flow with more arcs takes too long, as it cannot be stopped at a limit."""

_WIDE: Final = 2
"""Least difference of two integers that have another one between them."""


class EligiblePairs:
    """Pairs of a topic with partitions and a subscriber, by topic, then by member.

    Partitions of one topic differ only in their owner. So a *plan* is the number of
    partitions per pair, int64 (N,), of which as many as possible stay with their owner.
    """

    def __init__(self, instance: Instance) -> None:
        topic, member = subscribed_pairs(instance)
        has_supply = instance.topic_sizes[topic] > 0
        self.instance: Final = instance
        self.topic: Final = topic[has_supply]  # int64 (N,)
        self.member: Final = member[has_supply]  # int64 (N,)
        self.supply: Final = instance.topic_sizes[self.topic]  # partitions of the topic
        self.owned: Final = self.plan_of(instance.owner)  # as the members own them

    def plan_of(self, assignee: Int32) -> Int64:
        """Count the partitions of each pair."""
        assigned = np.flatnonzero(assignee != NOBODY)
        pair = self._pair_of(assigned, assignee[assigned])
        return np.bincount(pair, minlength=self.topic.size)

    def _pair_of(self, partition: Int64, member: Int32) -> Int64:
        """Return the pair of each partition and its member."""
        members = len(self.instance.members)
        topic = self.instance.partition_topic[partition].astype(np.int64)
        keys = self.topic * members + self.member
        return np.searchsorted(keys, topic * members + member)

    def moves(self, plan: Int64) -> int:
        """Count the owned partitions that a plan moves."""
        return int(np.maximum(self.owned - plan, 0).sum())

    def loads(self, plan: Int64) -> Int64:
        """Count the partitions of each member, int64 (M,)."""
        loads = np.zeros(len(self.instance.members), np.int64)
        np.add.at(loads, self.member, plan)
        return loads

    def squares(self, plan: Int64) -> int:
        """Return the sum of squares of the loads."""
        return int((self.loads(plan) ** 2).sum())

    def assignment_of(self, plan: Int64) -> Assignment:
        """Assign partition numbers: owners keep their lowest, the rest go in order."""
        owner, topic_of = self.instance.owner, self.instance.partition_topic
        assignee = np.full(owner.size, NOBODY, np.int32)
        owned = np.flatnonzero(owner != NOBODY)
        pair = self._pair_of(owned, owner[owned])
        for of_pair in groups(pair):
            kept = owned[of_pair[: plan[pair[of_pair[0]]]]]
            assignee[kept] = owner[kept]
        rest = np.isin(topic_of, self.topic) & (assignee == NOBODY)
        assignee[rest] = np.repeat(self.member, np.maximum(plan - self.owned, 0))
        return Assignment(assignee=assignee)


def groups(column: Int64) -> list[Int64]:
    """Return the positions of each value that occurs, by value."""
    order = np.argsort(column, kind="stable")
    ends = np.flatnonzero(np.diff(column[order], append=-1)) + 1
    return np.split(order, ends[:-1]) if column.size else []


class SupportedPlan(NamedTuple):
    """A plan with its moves and its sum of squares."""

    moves: int
    squares: int
    plan: Int64


def supported_plans(
    pairs: EligiblePairs, top: int, limits: Limits
) -> Iterator[SupportedPlan]:
    """Yield supported plans with loads up to ``top``, both ends first."""
    network = _LoadNetwork(pairs, top)
    if not pairs.topic.size or network.cost.size > ARCS_MAX or limits.exceeded():
        return
    left = network.solve(pairs.instance.n_partitions * top + 1, 1)
    right = network.solve(1, int(pairs.owned.sum()) + 1)
    yield left
    yield right
    edges = [(left, right)]
    while edges and not limits.exceeded():
        left, right = edges.pop(0)
        if right.moves - left.moves < _WIDE:
            continue
        per_move, per_square = left.squares - right.squares, right.moves - left.moves
        middle = network.solve(per_move, per_square)
        if left.moves < middle.moves < right.moves:
            yield middle
            edges += [(left, middle), (middle, right)]
        else:
            yield from _on_edge(network, per_move, per_square, limits)


def _on_edge(
    network: _LoadNetwork, per_move: int, per_square: int, limits: Limits
) -> Iterator[SupportedPlan]:
    """Yield plans on one edge of the hull, which cost the same at its prices.

    Ties are broken towards keeping for the first pairs with owned partitions and
    towards moving for the others: the more of the former, the fewer moves.
    """
    solve = partial(network.solve, per_move, per_square)
    most = network.owned.size
    ranges = [(0, solve(kept=0), most, solve(kept=most))]
    while ranges and not limits.exceeded():
        start, before, end, after = ranges.pop(0)
        if before.moves - after.moves < _WIDE or end - start < _WIDE:
            continue
        half = (start + end) // 2
        middle = solve(kept=half)
        yield middle
        ranges += [(start, before, half, middle), (half, middle, end, after)]


class _LoadNetwork:
    """Arcs for owned partitions, for all partitions, and for each unit of load."""

    def __init__(self, pairs: EligiblePairs, top: int) -> None:
        self.pairs: Final = pairs
        self.owned: Final = np.flatnonzero(pairs.owned)
        topics, topic = np.unique(pairs.topic, return_inverse=True)
        sizes, members = pairs.instance.topic_sizes[topics], len(pairs.instance.members)
        member, sink = topics.size + pairs.member, topics.size + members
        loaded = np.tile(np.arange(topics.size, sink), top)
        to_sink, level = np.full_like(loaded, sink), np.arange(loaded.size) // members
        columns = (
            (topic[self.owned], member[self.owned], pairs.owned[self.owned]),
            (topic, member, pairs.supply),
            (loaded, to_sink, np.ones_like(loaded)),
        )
        self._squares = 2 * level + 1
        self._arcs = [np.concatenate(column) for column in zip(*columns, strict=True)]
        self._supply = np.concatenate([sizes, np.zeros(members, int), [-sizes.sum()]])
        self.cost = np.zeros(self._arcs[0].size, np.int64)

    def solve(
        self, per_move: int, per_square: int, *, kept: int | None = None
    ) -> SupportedPlan:
        """Return a cheapest plan at these prices.

        With ``kept``, ties are broken towards keeping for the first so many pairs with
        owned partitions, and towards moving for the others.
        """
        owned, pairs = self.owned.size, self.pairs
        fine = 1 if kept is None else 2 * int(pairs.owned.sum()) + 1
        self.cost[:owned] = -per_move * fine
        if kept is not None:
            self.cost[:kept] -= 1
            self.cost[kept:owned] += 1
        self.cost[owned + pairs.topic.size :] = per_square * fine * self._squares
        flow = min_cost_flow(np.stack([*self._arcs, self.cost]), self._supply)
        if flow.size != self.cost.size:
            raise AssertionError("a flow problem that has a solution")
        plan = flow[owned : owned + pairs.topic.size].copy()
        plan[self.owned] += flow[:owned]
        return SupportedPlan(pairs.moves(plan), pairs.squares(plan), plan)
