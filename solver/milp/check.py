"""Is an assignment allowed? In integers, from the instance, not from any program.

This is what stands between a solver's doubles and a user: whatever was rounded, hinted
or made by hand is put to these questions before anything is said of it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import pairwise

import numpy as np

from rebalance import Assignment, Instance
from rebalance.claims import NOBODY
from solver.milp.chains import face_of, key_of
from solver.objectives import capacities, in_play
from solver.policy import Balance, BalanceKind, Policy

Held = dict[int, dict[int, int]]
"""Topic, then member: how many partitions; every subscriber is listed."""


def is_allowed(instance: Instance, policy: Policy, assignment: Assignment) -> bool:
    """Tell whether an assignment is complete, valid, balanced and within budget."""
    held = _held(instance, assignment)
    return (
        held is not None
        and _is_balanced(instance, policy.balance, held, assignment)
        and _is_within(instance, policy.max_moves, assignment)
    )


def _held(instance: Instance, assignment: Assignment) -> Held | None:
    """Count by topic and subscriber; None if a partition is with anybody else."""
    if assignment.assignee.shape != (instance.n_partitions,):
        return None
    takers: Held = defaultdict(dict)
    for member in range(len(instance.members)):
        for topic in instance.topics_of(member).tolist():
            takers[topic][member] = 0
    for topic, (start, end) in enumerate(pairwise(instance.topic_offsets.tolist())):
        found = Counter(assignment.assignee[start:end].tolist())
        if topic not in takers:
            if found.keys() - {NOBODY}:
                return None
            continue
        if not found.keys() <= takers[topic].keys():
            return None
        takers[topic].update(found)
    return {t: by for t, by in takers.items() if instance.topic_sizes[t]}


def _is_within(instance: Instance, most: int | None, assignment: Assignment) -> bool:
    owned = instance.owner != NOBODY
    moved = np.count_nonzero(owned & (instance.owner != assignment.assignee))
    return most is None or int(moved) <= most


def _is_balanced(
    instance: Instance, balance: Balance, held: Held, assignment: Assignment
) -> bool:
    weights = capacities(instance)
    loads = assignment.loads(instance).tolist()
    match balance.kind:
        case BalanceKind.NONE:
            return True
        case BalanceKind.DEC_MIN:
            groups = [tuple(by) for by in held.values()]
            numbered = dict(enumerate(held.values()))
            return face_of(groups, numbered, weights) is not None
        case BalanceKind.KIP54:
            return all(_no_transfer(by, loads) for by in held.values())
        case BalanceKind.PER_TOPIC:
            return all(_is_even(by, weights) for by in held.values())
        case BalanceKind.SPREAD:
            play = np.flatnonzero(in_play(instance)).tolist()
            ratios = [Fraction(loads[c], weights[c]) for c in play]
            most = balance.most or 0
            return not ratios or max(ratios) - min(ratios) <= most


def _no_transfer(by_member: dict[int, int], loads: list[int]) -> bool:
    """KIP-54: no holder has two or more partitions more than another subscriber."""
    least = min(loads[d] for d in by_member)
    return all(loads[c] <= least + 1 for c, count in by_member.items() if count)


def _is_even(by_member: dict[int, int], weights: list[int]) -> bool:
    """KIP-169: nobody's last partition is dearer than it would be with another."""
    last = max((key_of(n, weights[c]) for c, n in by_member.items() if n), default=None)
    following = min(key_of(n + 1, weights[c]) for c, n in by_member.items())
    return last is None or last <= following
