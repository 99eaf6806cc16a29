"""Cooperative rule (KIP-429): revoke a partition before it is assigned again."""

from __future__ import annotations

import numpy as np

from heuristics import wanted_claims
from rebalance import NOBODY, Assignment, Bools, Instance
from rebalance.protocol import UNKNOWN_GENERATION


def without_unrevoked(instance: Instance, target: Assignment) -> Assignment:
    """Take out what a member other than its taker still has.

    That member finds it missing, gives it up and makes the group join again; nobody
    claims it then. Who has it is who claims it as of the newest generation, or does not
    say as of which: those with an older one have lost what they had (KIP-792). What a
    member does not subscribe to any more it gave up before it joined.
    """
    is_held = _held_by_others(instance, target)
    return Assignment(assignee=np.where(is_held, np.int32(NOBODY), target.assignee))


def _held_by_others(instance: Instance, target: Assignment) -> Bools:
    """Return which partitions a member other than the assignee holds, bool (P,)."""
    claims = instance.claims
    counts = _are_current(instance) & wanted_claims(instance)
    at, member = claims.partitions[counts], claims.member[counts]
    held = np.zeros(instance.n_partitions, dtype=np.bool_)
    held[at[target.assignee[at] != member]] = True
    return held


def _are_current(instance: Instance) -> Bools:
    """Return which claims are of the newest generation, one entry per claim."""
    generation = instance.claims.generation
    newest = generation.max(initial=UNKNOWN_GENERATION)
    is_current = (generation == newest) | (generation == UNKNOWN_GENERATION)
    return np.asarray(is_current[instance.claims.member])
