"""Assignments that cost nothing to have: where a search starts and what it falls on.

None is believed: `solver.milp.check` says which of them a policy allows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from rebalance import Assignment, Instance
from rebalance.claims import NOBODY
from solver.exact import solve as solve_core
from solver.milp.quotas import quotas_of
from solver.objectives import capacities

BY_HAND_MAX = 200_000
"""Partitions; with more of them the core's answer alone is quick."""


def candidates(instance: Instance, hint: Assignment | None) -> Iterator[Assignment]:
    """Yield the hint, the exact core's answers, and two made by hand."""
    if hint is not None:
        yield hint
    yield solve_core(instance).require_assignment()
    if instance.capacity is not None:
        # KIP-54 counts partitions, whatever the capacities: so does this answer.
        yield solve_core(replace(instance, capacity=None)).require_assignment()
    if instance.n_partitions > BY_HAND_MAX:
        return
    subscribers = _subscribers(instance)
    yield _kept(instance, subscribers)
    yield _topic_by_topic(instance, subscribers)


def _subscribers(instance: Instance) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in instance.topics]
    for member in range(len(instance.members)):
        for topic in instance.topics_of(member).tolist():
            found[topic].append(member)
    return found


def _kept(instance: Instance, subscribers: list[list[int]]) -> Assignment:
    """Let everybody keep everything; the rest goes to the least loaded."""
    assignee = instance.owner.copy()
    loads = Assignment(assignee=instance.owner).loads(instance).tolist()
    weights = capacities(instance)
    for row in np.flatnonzero(assignee == NOBODY).tolist():
        takers = subscribers[instance.partition_topic[row]]
        if takers:
            taker = min(takers, key=lambda c: ((loads[c] + 1) / weights[c], c))
            assignee[row] = taker
            loads[taker] += 1
    return Assignment(assignee=assignee)


def _topic_by_topic(instance: Instance, subscribers: list[list[int]]) -> Assignment:
    """Fill every topic's quotas: owners first, then in order."""
    assignee = np.full(instance.n_partitions, NOBODY, dtype=np.int32)
    weights = capacities(instance)
    for topic, (start, end) in enumerate(pairwise(instance.topic_offsets.tolist())):
        if start < end and subscribers[topic]:
            rows = range(start, end)
            owner = instance.owner[start:end].tolist()
            assignee[start:end] = _filled(
                dict(zip(rows, owner, strict=True)), topic, subscribers[topic], weights
            )
    return Assignment(assignee=assignee)


def _filled(
    owner: dict[int, int], topic: int, takers: list[int], weights: list[int]
) -> list[int]:
    quotas = list(quotas_of(topic, takers, weights, len(owner)))
    room = {q.member: q.low for q in quotas}
    extra = len(owner) - sum(room.values())
    wants = {q.member for q in quotas if q.high > q.low}
    taker = dict.fromkeys(owner, NOBODY)
    for row, c in owner.items():
        if c in wants and room[c] == 0 and extra:
            wants.discard(c)
            room[c], extra = 1, extra - 1
        if c != NOBODY and room[c]:
            room[c] -= 1
            taker[row] = c
    for c in sorted(wants)[:extra]:
        room[c] += 1
    free = iter([c for c in sorted(room) for _ in range(room[c])])
    return [next(free) if c == NOBODY else c for c in taker.values()]
