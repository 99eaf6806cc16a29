"""Exchanges that lower the peak lag: one partition of the peak member given or swapped.

Only exchanges that the policy allows are considered: under ``dec-min`` within the
optimal face, under ``per-topic`` within one topic, under other balances swaps within
one topic, which change no load at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from rebalance import NOBODY, Assignment, Bools, Instance, Int32, Int64
from solver.constants import INT64_MAX
from solver.exact import OptimalFace, optimal_face_of
from solver.explanation.transfers import Chain, Transfer, apply
from solver.objectives import common_capacity
from solver.policy import BalanceKind, Objective, Policy
from solver.result import Certificate

_PAIRS: Final = 4_000_000
"""Pairs of partitions that are compared per exchange; the largest lags come first."""
_STEPS: Final = 20
"""Exchanges, at most: one per member with the peak lag."""

Found = tuple[int, int, Chain]  # larger lag of both members, transfers, the exchange


def lower_peak(
    instance: Instance,
    assignment: Assignment,
    policy: Policy,
    certificate: Certificate | None = None,
) -> list[Chain]:
    """Return one exchange per member with the peak lag; none if some has none.

    Parameters
    ----------
    assignment : Assignment
        Meets the balance of the policy.
    certificate : Certificate or None
        Of dec-min balance; None for other balances.
    """
    rules = _rules_of(instance, policy, certificate)
    if rules is None:
        return []
    assignee, chains = assignment.assignee, list[Chain]()
    peak = start = int(rules.values(assignee).max(initial=0))
    while peak == start and len(chains) < _STEPS:
        found = min(rules.exchanges(assignee), default=None)
        if found is None:
            return []
        chains.append(found[2])
        assignee = apply(assignee, found[2])
        peak = int(rules.values(assignee).max(initial=0))
    return chains if peak < start else []


def _rules_of(
    instance: Instance, policy: Policy, certificate: Certificate | None
) -> _Rules | None:
    """Return the exchanges that a policy allows; None if these are not known here."""
    names = [one.only for one in policy.objectives]
    if instance.lag is None or Objective.PEAK_LAG not in names:
        return None
    before = names[: names.index(Objective.PEAK_LAG)]
    scale = common_capacity(instance)
    if before not in ([], [Objective.STICKINESS]) or (
        int(instance.lag.sum()) * scale > INT64_MAX
    ):
        return None
    unit = np.ones(len(instance.members), np.int64)
    if instance.capacity is not None:
        in_play = instance.in_play
        unit[in_play] = scale // instance.capacity[in_play]
    face = None if certificate is None else optimal_face_of(instance, certificate)
    keep_moves = bool(before) or policy.max_moves is not None
    return _Rules(instance, policy.balance.kind, face, unit, keep_moves)


@dataclass(frozen=True, slots=True)
class _Rules:
    """The exchanges that a policy allows for one instance."""

    instance: Instance
    balance: BalanceKind
    face: OptimalFace | None
    unit: Int64  # (M,): lag × unit is lag ÷ capacity in units of 1 ÷ scale
    keep_moves: bool  # no exchange may move more

    @property
    def lag(self) -> Int64:
        lag = self.instance.lag
        return np.zeros(self.instance.n_partitions, np.int64) if lag is None else lag

    def lags(self, assignee: Int32) -> Int64:
        """Lag of each member, records."""
        total = np.zeros(self.unit.size, np.int64)
        given = assignee >= 0
        np.add.at(total, assignee[given], self.lag[given])
        return total

    def values(self, assignee: Int32) -> Int64:
        """Lag ÷ capacity of each member, in units of 1 ÷ scale."""
        return self.unit * self.lags(assignee)

    def exchanges(self, assignee: Int32) -> Iterator[Found]:
        """Yield the best transfer and the best swap of each partition of the peak."""
        lags = self.lags(assignee)
        member = int(np.argmax(self.unit * lags))
        rows = np.flatnonzero((assignee == member) & (self.lag > 0))
        rows = rows[np.argsort(-self.lag[rows], kind="stable")]
        most = max(1, _PAIRS // max(1, assignee.size))
        for row in rows[:most].tolist():
            eligible = self._eligible(row)
            yield from self._transfer(assignee, lags, row, eligible)
            yield from self._swap(assignee, lags, row, eligible)

    def _transfer(
        self, assignee: Int32, lags: Int64, row: int, eligible: Bools
    ) -> Iterator[Found]:
        giver, lag = int(assignee[row]), int(self.lag[row])
        fits = eligible & self._may_take(assignee, row)
        fits[giver] = False
        if self.keep_moves:
            fits &= self._saved(row, giver) <= self._owned(row)
        receivers = np.flatnonzero(fits)
        if not receivers.size:
            return
        left = self.unit[giver] * (lags[giver] - lag)
        worse = np.maximum(left, self.unit[receivers] * (lags[receivers] + lag))
        best = int(np.argmin(worse))
        if worse[best] < self.unit[giver] * lags[giver]:
            chain = (Transfer(row, giver, int(receivers[best])),)
            yield int(worse[best]), 1, chain

    def _swap(
        self, assignee: Int32, lags: Int64, row: int, eligible: Bools
    ) -> Iterator[Found]:
        giver, lag = int(assignee[row]), int(self.lag[row])
        fits = eligible[assignee] & (assignee >= 0) & (assignee != giver)
        fits &= self._could_return(row, giver)
        rows = np.flatnonzero(fits)
        others = assignee[rows]
        if self.keep_moves:
            owner = self.instance.owner[rows]
            gained = (owner == giver).astype(np.int64) + self._owned(row)[others]
            lost = (owner == others).astype(np.int64) + self._saved(row, giver)
            rows, others = rows[gained >= lost], others[gained >= lost]
        if not rows.size:
            return
        less = lag - self.lag[rows]
        worse = np.maximum(
            self.unit[giver] * (lags[giver] - less),
            self.unit[others] * (lags[others] + less),
        )
        best = int(np.argmin(worse))
        if worse[best] < self.unit[giver] * lags[giver]:
            other = int(others[best])
            back = Transfer(int(rows[best]), other, giver)
            yield int(worse[best]), 2, (Transfer(row, giver, other), back)

    def _eligible(self, row: int) -> Bools:
        """Members to which the balance allows the partition, bool (M,)."""
        instance, topic = self.instance, int(self.instance.partition_topic[row])
        sizes = np.diff(instance.class_offsets)
        classes = np.repeat(np.arange(sizes.size), sizes)
        wanted = np.zeros(sizes.size, np.bool_)
        wanted[classes[instance.class_topics == topic]] = True
        eligible = np.asarray(wanted[instance.member_class])
        if self.face is not None:
            eligible &= self.face.place == self.face.floor[topic]
        return eligible

    def _could_return(self, row: int, giver: int) -> Bools:
        """Partitions that the giver may receive for the row, bool (P,)."""
        instance = self.instance
        topic = instance.partition_topic
        open_kinds = {BalanceKind.NONE, BalanceKind.DEC_MIN}
        if self.balance not in open_kinds:
            return np.asarray(topic == topic[row])
        wanted = np.zeros(len(instance.topics), np.bool_)
        wanted[instance.topics_of(giver)] = True
        if self.face is not None:
            wanted &= self.face.floor == self.face.place[giver]
        return np.asarray(wanted[topic])

    def _may_take(self, assignee: Int32, row: int) -> Bools:
        """Members that may hold one partition more, from the row's, bool (M,)."""
        instance, giver = self.instance, int(assignee[row])
        m, everyone = self.unit.size, np.ones(self.unit.size, np.bool_)
        if self.balance is BalanceKind.NONE:
            return everyone
        if self.face is not None:
            loads = np.bincount(assignee[assignee >= 0], minlength=m)
            gives = loads[giver] > self.face.low[giver]
            return np.asarray((loads < self.face.high) & gives)
        if self.balance is BalanceKind.PER_TOPIC and instance.capacity is None:
            of_topic = instance.partition_topic == instance.partition_topic[row]
            loads = np.bincount(assignee[of_topic], minlength=m)
            return np.asarray(loads < loads[giver])
        return ~everyone

    def _owned(self, row: int) -> Int64:
        """1 for the owner of the row, else 0, int64 (M,)."""
        owned = np.zeros(self.unit.size, np.int64)
        if self.instance.owner[row] != NOBODY:
            owned[self.instance.owner[row]] = 1
        return owned

    def _saved(self, row: int, giver: int) -> int:
        """1 if the giver owns the row, else 0."""
        return int(self.instance.owner[row] == giver)
