"""Cooperative rule (KIP-429): revoke a partition before it is assigned again."""

from __future__ import annotations

import numpy as np

from heuristics import wanted_claims
from rebalance import NOBODY, Assignment, Bools, Instance
from rebalance.protocol import UNKNOWN_GENERATION


def without_unrevoked(instance: Instance, target: Assignment) -> Assignment:
    """Withhold the partitions that another member still owns.

    The owner revokes a withheld partition and triggers another rebalance, in which no
    member claims it. A partition is owned by the members that claim it with the newest
    generation or without a generation; claims of an older generation are void
    (KIP-792). A member has revoked the partitions of topics to which it no longer
    subscribes before it joins.
    """
    is_held = _held_by_others(instance, target)
    return Assignment(assignee=np.where(is_held, np.int32(NOBODY), target.assignee))


def _held_by_others(instance: Instance, target: Assignment) -> Bools:
    """Return which partitions a member other than the assignee owns, bool (P,)."""
    claims = instance.claims
    counts = _are_current(instance) & wanted_claims(instance)
    at, member = claims.partitions[counts], claims.member[counts]
    held = np.zeros(instance.n_partitions, dtype=np.bool_)
    held[at[target.assignee[at] != member]] = True
    return held


def _are_current(instance: Instance) -> Bools:
    """Return which claims have the newest generation, bool, one entry per claim."""
    generation = instance.claims.generation
    newest = generation.max(initial=UNKNOWN_GENERATION)
    is_current = (generation == newest) | (generation == UNKNOWN_GENERATION)
    return np.asarray(is_current[instance.claims.member])
