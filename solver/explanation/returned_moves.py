"""Moves to give back so that an assignment keeps its balance within a move budget.

Without a balance, any moved partitions return to their owners. Under ``dec-min``, the
exchanges that lead to the stickiest assignment are applied until enough moves are
saved. Otherwise each moved partition returns, alone or in a swap with its owner, if the
balance allows it.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from rebalance import NOBODY, Assignment, Instance, Int32
from solver.explanation.allowed_exchanges import AllowedExchanges, capacity_units
from solver.explanation.balanced_exchanges import needless_moves
from solver.explanation.transfers import Chain, Transfer, apply
from solver.policy import BalanceKind, Policy

_TRIED: Final = 200
"""Moved partitions that are tried, each with a count of the loads."""


def give_back(
    instance: Instance,
    assignment: Assignment,
    policy: Policy,
    stickiest: Assignment | None = None,
) -> list[Chain] | None:
    """Return transfers after which the budget is met; None if they are not found.

    Parameters
    ----------
    assignment : Assignment
        Meets the balance of the policy, and exceeds its budget.
    stickiest : Assignment or None
        The stickiest dec-min assignment, if the balance is DEC_MIN.
    """
    excess = _moved(instance, assignment.assignee).size - (policy.max_moves or 0)
    if policy.balance.kind is BalanceKind.DEC_MIN:
        if stickiest is None:
            return None
        found = []
        for exchange in needless_moves(instance, assignment, stickiest):
            if excess <= 0:
                break
            found.append(exchange.transfers)
            excess -= exchange.fewer_moves
        return found if excess <= 0 else None
    if policy.balance.kind is BalanceKind.NONE:
        owner, assignee = instance.owner, assignment.assignee
        rows = _moved(instance, assignee)[:excess].tolist()
        return [(Transfer(r, int(assignee[r]), int(owner[r])),) for r in rows]
    return _one_by_one(instance, assignment.assignee, policy, excess)


def _one_by_one(
    instance: Instance, assignee: Int32, policy: Policy, excess: int
) -> list[Chain] | None:
    units = capacity_units(instance)
    if units is None:
        return None
    unit, scale = units
    owner, found = instance.owner, list[Chain]()
    for row in _moved(instance, assignee)[:_TRIED].tolist():
        if excess <= 0:
            break
        giver, to = int(assignee[row]), int(owner[row])
        if giver == to:  # a swap has returned it
            continue
        allowed = AllowedExchanges(
            instance, policy.balance, None, unit, scale, assignee
        )
        there = Transfer(row, giver, to)
        if allowed.receivers(row)[to]:
            found.append((there,))
            saved = 1
        else:
            backs = np.flatnonzero(allowed.returns(row) & (assignee == to))
            backs = backs[owner[backs] != to]
            if not backs.size:
                continue
            mine = backs[owner[backs] == giver]
            back = int((mine if mine.size else backs)[0])
            found.append((there, Transfer(back, to, giver)))
            saved = 1 + bool(mine.size)
        assignee = apply(assignee, found[-1])
        excess -= saved
    return found if excess <= 0 else None


def _moved(instance: Instance, assignee: Int32) -> Int32:
    """Return the partitions that are not with their owner."""
    owner = instance.owner
    rows = np.flatnonzero((owner != NOBODY) & (owner != assignee))
    return rows.astype(np.int32)
