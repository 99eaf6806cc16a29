"""Check in integers, from the instance alone, whether a policy allows an assignment.

Every assignment that is rounded from a solver's doubles passes this check before it is
used; it refers to no program.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import pairwise

import numpy as np

from rebalance import NOBODY, Assignment, Instance
from solver.milp.dec_min_face import dec_min_face
from solver.objectives import capacities, count_moves, is_kip54_balanced
from solver.policy import Balance, BalanceKind, Policy

TopicCounts = dict[int, dict[int, int]]
"""Topic, then subscriber: number of partitions; every subscriber is listed."""


def is_allowed(instance: Instance, policy: Policy, assignment: Assignment) -> bool:
    """Return whether an assignment is complete, valid, balanced, and within budget."""
    counts = _topic_counts(instance, assignment)
    budget = policy.max_moves
    return (
        counts is not None
        and (budget is None or count_moves(instance, assignment) <= budget)
        and _is_balanced(instance, policy.balance, counts, assignment)
    )


def _topic_counts(instance: Instance, assignment: Assignment) -> TopicCounts | None:
    """Count by topic and subscriber; None if the assignment is not valid."""
    counts: TopicCounts = defaultdict(dict)
    for member in range(len(instance.members)):
        for topic in instance.topics_of(member).tolist():
            counts[topic][member] = 0
    for topic, (start, end) in enumerate(pairwise(instance.topic_offsets.tolist())):
        found = Counter(assignment.assignee[start:end].tolist())
        if not found.keys() <= (counts[topic].keys() or {NOBODY}):
            return None
        counts[topic].update(found)
    return {
        topic: by_member
        for topic, by_member in counts.items()
        if instance.topic_sizes[topic] and NOBODY not in by_member
    }


def _is_balanced(
    instance: Instance, balance: Balance, counts: TopicCounts, assignment: Assignment
) -> bool:
    weights = capacities(instance)
    topics = list(counts.values())
    match balance.kind:
        case BalanceKind.NONE:
            return True
        case BalanceKind.DEC_MIN:
            return dec_min_face([*map(tuple, topics)], topics, weights) is not None
        case BalanceKind.KIP54:
            return is_kip54_balanced(instance, assignment)
        case BalanceKind.PER_TOPIC:
            return all(_is_even(topic, weights) for topic in topics)
        case BalanceKind.SPREAD:
            # Fractions need no common capacity, which can be too large.
            loads = assignment.loads(instance).tolist()
            play = np.flatnonzero(instance.in_play).tolist()
            ratios = [Fraction(loads[c], weights[c]) for c in play] or [Fraction()]
            return max(ratios) - min(ratios) <= (balance.most or 0)


def _is_even(topic: dict[int, int], weights: list[int]) -> bool:
    """KIP-169: the counts of one topic are dec-min over its subscribers."""
    held = dict(enumerate(topic.values()))
    capacity = [weights[c] for c in topic]
    return dec_min_face([range(len(held))], [held], capacity) is not None
