"""Cooperative rule (KIP-429): revoke a partition before it is assigned again."""

from __future__ import annotations

import numpy as np

from heuristics import wanted_claims
from rebalance import NOBODY, Assignment, Bools, Instance
from rebalance.protocol import UNKNOWN_GENERATION


def without_unrevoked(instance: Instance, target: Assignment) -> Assignment:
    """Withhold the partitions that another member still owns.

    The owner revokes a withheld partition and triggers another rebalance, in which no
    member claims it. A partition is owned by the members whose claims on it are the
    newest (KIP-341) or have no generation. A claim of an earlier generation of the
    group counts too, unless a newer one is on the same partition: a member that missed
    a generation still has its claims. A member has revoked the partitions of topics to
    which it no longer subscribes before it joins.
    """
    is_held = _held_by_others(instance, target)
    return Assignment(assignee=np.where(is_held, np.int32(NOBODY), target.assignee))


def _held_by_others(instance: Instance, target: Assignment) -> Bools:
    """Return which partitions a member other than the assignee owns, bool (P,)."""
    claims = instance.claims
    counts = wanted_claims(instance)
    at, member = claims.partitions[counts], claims.member[counts]
    generation = claims.generation[member]
    newest = np.full(instance.n_partitions, UNKNOWN_GENERATION, dtype=np.int64)
    np.maximum.at(newest, at, generation)
    owns = (generation == newest[at]) | (generation == UNKNOWN_GENERATION)
    held = np.zeros(instance.n_partitions, dtype=np.bool_)
    held[at[owns & (target.assignee[at] != member)]] = True
    return held
