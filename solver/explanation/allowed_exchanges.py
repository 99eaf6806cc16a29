"""Transfers and swaps of one partition after which an assignment meets its balance.

The assignment meets the balance before. ``dec-min``: within the optimal face, all loads
of a level stay ``low`` or one more; a swap changes no load. ``per-topic``: one member
holds one partition of the topic more than the other, at the same capacity; a swap
between two topics is such a transfer in both. ``kip54``: a member that receives a topic
holds at most one partition more than any subscriber of it. ``spread``: the extremes are
counted again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rebalance import Bools, Instance, Int32, Int64
from solver.constants import INT64_MAX
from solver.exact import OptimalFace
from solver.objectives import common_capacity
from solver.policy import Balance, BalanceKind


def capacity_units(instance: Instance) -> tuple[Int64, int] | None:
    """Return units per member and their scale: load × unit is load ÷ capacity × scale.

    None if loads in these units could exceed 64 bits.
    """
    scale = common_capacity(instance)
    if instance.n_partitions * scale > INT64_MAX:
        return None
    unit = np.ones(len(instance.members), np.int64)
    if instance.capacity is not None:
        in_play = instance.in_play
        unit[in_play] = scale // instance.capacity[in_play]
    return unit, scale


@dataclass(frozen=True)
class AllowedExchanges:
    """The exchanges that a balance allows in one assignment.

    Attributes
    ----------
    face : OptimalFace or None
        Of a balance DEC_MIN; None otherwise.
    unit : int64 (M,)
        load × unit is load ÷ capacity in units of 1 ÷ ``scale``.
    """

    instance: Instance
    balance: Balance
    face: OptimalFace | None
    unit: Int64
    scale: int
    assignee: Int32

    def receivers(self, row: int) -> Bools:
        """Members to which the partition can be transferred, bool (M,)."""
        giver = int(self.assignee[row])
        fits = self.takers(row)
        match self.balance.kind:
            case BalanceKind.DEC_MIN:
                fits &= self._within_face(giver)
            case BalanceKind.PER_TOPIC:
                fits &= self._one_fewer(int(self.instance.partition_topic[row]), giver)
            case BalanceKind.KIP54:
                fits &= self._within_kip54(row, giver)
            case BalanceKind.SPREAD:
                fits &= self._within_spread(giver)
        fits[giver] = False
        return fits

    def returns(self, row: int) -> Bools:
        """Partitions of other members that can be swapped for it, bool (P,)."""
        giver, topic = int(self.assignee[row]), self.instance.partition_topic
        held = (self.assignee >= 0) & (self.assignee != giver)
        fits = held & self.takers(row)[self.assignee] & self._wanted(giver)[topic]
        match self.balance.kind:
            case BalanceKind.PER_TOPIC:
                fits &= self._per_topic_swaps(row, giver)
            case BalanceKind.KIP54:
                least = self._least_load[int(topic[row])]
                fits &= (self.loads <= least + 1)[self.assignee]
                fits &= self._least_load[topic] + 1 >= self.loads[giver]
        return np.asarray(fits)

    def takers(self, row: int) -> Bools:
        """Return the subscribers of its topic, within the optimal face, bool (M,)."""
        instance, topic = self.instance, int(self.instance.partition_topic[row])
        sizes = np.diff(instance.class_offsets)
        classes = np.repeat(np.arange(sizes.size), sizes)
        wanted = np.zeros(sizes.size, np.bool_)
        wanted[classes[instance.class_topics == topic]] = True
        takers = np.asarray(wanted[instance.member_class])
        if self.face is not None:
            takers &= self.face.place == self.face.floor[topic]
        return takers

    @cached_property
    def loads(self) -> Int64:
        """Number of partitions of each member, int64 (M,)."""
        given = self.assignee[self.assignee >= 0]
        return np.bincount(given, minlength=self.unit.size).astype(np.int64)

    @cached_property
    def _least_load(self) -> Int64:
        """Least load of a subscriber, per topic, int64 (T,)."""
        instance = self.instance
        sizes = np.diff(instance.class_offsets)
        of_class = np.full(sizes.size, INT64_MAX)
        np.minimum.at(of_class, instance.member_class, self.loads)
        least = np.full(len(instance.topics), INT64_MAX)
        np.minimum.at(least, instance.class_topics, np.repeat(of_class, sizes))
        return least

    @cached_property
    def _held(self) -> tuple[Int64, Int64]:
        """Pairs of member and topic in which a partition is held."""
        given = self.assignee >= 0
        n_topics = max(1, len(self.instance.topics))
        keys = self.assignee[given].astype(np.int64) * n_topics
        pairs = np.unique(keys + self.instance.partition_topic[given])
        return pairs // n_topics, pairs % n_topics

    def _wanted(self, member: int) -> Bools:
        """Topics that the member may receive, bool (T,)."""
        wanted = np.zeros(len(self.instance.topics), np.bool_)
        wanted[self.instance.topics_of(member)] = True
        if self.face is not None:
            wanted &= self.face.floor == self.face.place[member]
        return wanted

    def _within_face(self, giver: int) -> Bools:
        if self.face is None:
            return np.zeros(self.unit.size, np.bool_)
        gives = self.loads[giver] > self.face.low[giver]
        return np.asarray((self.loads < self.face.high) & gives)

    def _one_fewer(self, topic: int, giver: int) -> Bools:
        """Members with one partition of the topic less, and the same capacity."""
        of_topic = (self.instance.partition_topic == topic) & (self.assignee >= 0)
        loads = np.bincount(self.assignee[of_topic], minlength=self.unit.size)
        same = self.unit == self.unit[giver]
        return np.asarray((loads == loads[giver] - 1) & same)

    def _per_topic_swaps(self, row: int, giver: int) -> Bools:
        """Partitions of its topic, and of topics in which the giver has one less."""
        topic = self.instance.partition_topic
        fewer = self._one_fewer(int(topic[row]), giver)
        n_topics = len(self.instance.topics)
        mine = np.bincount(topic[self.assignee == giver], minlength=n_topics)
        keys = np.where(self.assignee >= 0, self.assignee, 0).astype(np.int64)
        keys = keys * n_topics + topic
        counts = np.zeros(self.assignee.size, np.int64)
        given = self.assignee >= 0
        _, place, many = np.unique(keys[given], return_inverse=True, return_counts=True)
        counts[given] = many[place]
        both = fewer[self.assignee] & (counts == mine[topic] + 1)
        return np.asarray((topic == topic[row]) | both)

    def _within_kip54(self, row: int, giver: int) -> Bools:
        """Members of whose topics no subscriber holds less, beside the giver."""
        loads, least = self.loads, self._least_load
        members, topics = self._held
        wanted = np.zeros(len(self.instance.topics), np.bool_)
        wanted[self.instance.topics_of(giver)] = True
        if (loads[members[wanted[topics]]] > loads[giver]).any():
            return np.zeros(self.unit.size, np.bool_)
        lowest = np.full(self.unit.size, least[self.instance.partition_topic[row]])
        np.minimum.at(lowest, members, least[topics])
        return np.asarray((loads < loads[giver]) & (lowest >= loads))

    def _within_spread(self, giver: int) -> Bools:
        """Members in play after whose gain the loads ÷ capacity are close enough."""
        fits = np.zeros(self.unit.size, np.bool_)
        in_play = np.flatnonzero(self.instance.in_play)
        values = self.loads * self.unit
        others = values[in_play[in_play != giver]]
        if self.balance.most is None or not others.size:
            return fits
        ascending = np.sort(others)
        less = values[giver] - self.unit[giver]
        gained = values + self.unit
        low, high = ascending[0], ascending[-1]
        next_low, next_high = ascending[1:2], ascending[-2:-1]
        for member in in_play[in_play != giver].tolist():
            lows, highs = [less, gained[member]], [less, gained[member]]
            lows += [low] if values[member] > low else next_low.tolist()
            highs += [high] if values[member] < high else next_high.tolist()
            width = int(max(highs)) - int(min(lows))
            fits[member] = width <= self.balance.most * self.scale
        return fits
