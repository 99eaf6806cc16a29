"""Exchanges that lower the peak lag: one partition of the peak member given or swapped.

Of the exchanges that the balance allows (`solver.explanation.allowed_exchanges`) and
the moves leave room for, the one after which the larger lag of both members is least.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from rebalance import NOBODY, Assignment, Instance, Int32, Int64
from solver.constants import INT64_MAX
from solver.exact import OptimalFace, optimal_face_of
from solver.explanation.allowed_exchanges import AllowedExchanges, capacity_units
from solver.explanation.transfers import Chain, Transfer, apply
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
    if rules is None or not instance.members:
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
    names = [objective.only for objective in policy.objectives]
    if instance.lag is None or Objective.PEAK_LAG not in names:
        return None
    before = names[: names.index(Objective.PEAK_LAG)]
    units = capacity_units(instance)
    if units is None or before not in ([], [Objective.STICKINESS]):
        return None
    unit, scale = units
    if int(instance.lag.sum()) * scale > INT64_MAX:
        return None
    face = None if certificate is None else optimal_face_of(instance, certificate)
    if face is None and policy.balance.kind is BalanceKind.DEC_MIN:
        return None
    return _Rules(instance, policy, face, unit, scale, keep_moves=bool(before))


@dataclass(frozen=True, slots=True)
class _Rules:
    """The exchanges that a policy allows for one instance."""

    instance: Instance
    policy: Policy
    face: OptimalFace | None
    unit: Int64  # (M,): lag × unit is lag ÷ capacity in units of 1 ÷ scale
    scale: int
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

    def room(self, assignee: Int32) -> int:
        """Return how many more moves an exchange may make."""
        owner, most = self.instance.owner, self.policy.max_moves
        if self.keep_moves:
            return 0
        if most is None:
            return 2
        return most - int(np.count_nonzero((owner != NOBODY) & (owner != assignee)))

    def exchanges(self, assignee: Int32) -> Iterator[Found]:
        """Yield the best transfer and the best swap of each partition of the peak."""
        lags, room = self.lags(assignee), self.room(assignee)
        member = int(np.argmax(self.unit * lags))
        rows = np.flatnonzero((assignee == member) & (self.lag > 0))
        rows = rows[np.argsort(-self.lag[rows], kind="stable")]
        most = max(1, _PAIRS // max(1, assignee.size))
        allowed = AllowedExchanges(
            self.instance,
            self.policy.balance,
            self.face,
            self.unit,
            self.scale,
            assignee,
        )
        for row in rows[:most].tolist():
            yield from self._transfer(allowed, lags, row, room)
            yield from self._swap(allowed, lags, row, room)

    def _transfer(
        self, allowed: AllowedExchanges, lags: Int64, row: int, room: int
    ) -> Iterator[Found]:
        giver, lag = int(allowed.assignee[row]), int(self.lag[row])
        fits = allowed.receivers(row)
        fits &= self._saved(row, giver) - self._owned(row) <= room
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
        self, allowed: AllowedExchanges, lags: Int64, row: int, room: int
    ) -> Iterator[Found]:
        giver, lag = int(allowed.assignee[row]), int(self.lag[row])
        rows = np.flatnonzero(allowed.returns(row))
        others = allowed.assignee[rows]
        owner = self.instance.owner[rows]
        gained = (owner == giver).astype(np.int64) + self._owned(row)[others]
        lost = (owner == others).astype(np.int64) + self._saved(row, giver)
        is_within = lost - gained <= room
        rows, others = rows[is_within], others[is_within]
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

    def _owned(self, row: int) -> Int64:
        """1 for the owner of the row, else 0, int64 (M,)."""
        owned = np.zeros(self.unit.size, np.int64)
        if self.instance.owner[row] != NOBODY:
            owned[self.instance.owner[row]] = 1
        return owned

    def _saved(self, row: int, giver: int) -> int:
        """1 if the giver owns the row, else 0."""
        return int(self.instance.owner[row] == giver)
