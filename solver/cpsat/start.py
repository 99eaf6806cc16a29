"""Assignments to begin with: cheap, and allowed where the balance is a simple one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from heapq import heapify, heapreplace

import numpy as np

from rebalance import Assignment, Instance
from rebalance.claims import NOBODY
from solver import exact
from solver.cpsat.face import Key, key_of
from solver.cpsat.plan import Plan, assignment_of
from solver.cpsat.problem import Problem
from solver.policy import Balance, BalanceKind


def starts(problem: Problem, balance: Balance) -> Iterator[Assignment]:
    """Go through assignments that may do, the likeliest first."""
    instance = problem.instance
    if balance.kind is BalanceKind.PER_TOPIC:
        yield by_hand(problem, topic_by_topic=True)
        return
    if instance.capacity is not None and balance.kind is not BalanceKind.KIP54:
        yield exact.solve(instance).require_assignment()
        yield by_hand(problem, topic_by_topic=False)
        return
    yield exact.solve(without_capacity(instance)).require_assignment()


def staying(problem: Problem) -> Assignment:
    """Leave every owned partition with its owner; the rest goes in turn."""
    owner = problem.instance.owner
    rest = by_hand(problem, topic_by_topic=False, keep=True)
    assignee = np.where(owner == NOBODY, rest.assignee, owner).astype(np.int32)
    return Assignment(assignee=assignee)


def without_capacity(instance: Instance) -> Instance:
    """Return the instance with every member counting alike."""
    return instance if instance.capacity is None else replace(instance, capacity=None)


def by_hand(
    problem: Problem, *, topic_by_topic: bool, keep: bool = False
) -> Assignment:
    """Give each partition to the subscriber with the least next key.

    Within a single topic that is dec-min. Owners get their own partitions of what
    their share of a pool is; with ``keep``, all of them whatever the share.
    """
    loads = [0] * len(problem.members)
    kinds_of: list[list[int]] = [[] for _ in problem.pools]
    kinds = list(problem.kinds)
    for number, kind in enumerate(kinds):
        kinds_of[kind.pool].append(number)
        if keep and kind.owner != NOBODY:
            loads[kind.owner] += kind.amount
    plan: Plan = [{} for _ in kinds]
    amounts = [kind.amount for kind in kinds]
    for pool, (subscribers, size) in enumerate(problem.pools):
        if topic_by_topic:
            loads = [0] * len(problem.members)
        kept = [k for k in kinds_of[pool] if keep and kinds[k].owner != NOBODY]
        free = size - sum(kinds[k].amount for k in kept)
        share = _shares(problem, subscribers, loads, free)
        for number in kept:
            plan[number] = {kinds[number].owner: kinds[number].amount}
        rest = [k for k in kinds_of[pool] if not plan[k]]
        for number in rest:
            kind = kinds[number]
            own = min(share.get(kind.owner, 0), kind.amount)
            if own:
                plan[number][kind.owner] = own
                share[kind.owner] -= own
        _spread_rest(plan, rest, amounts, share)
    return assignment_of(problem, plan)


def _shares(
    problem: Problem, subscribers: tuple[int, ...], loads: list[int], size: int
) -> dict[int, int]:
    """Deal so many partitions out by least next key; loads rise on the way."""
    share = dict.fromkeys(subscribers, 0)
    heap: list[tuple[Key, int]] = [
        (key_of(problem, m, loads[m] + 1), m) for m in subscribers
    ]
    heapify(heap)
    for _ in range(size):
        member = heap[0][1]
        share[member] += 1
        loads[member] += 1
        heapreplace(heap, (key_of(problem, member, loads[member] + 1), member))
    return share


def _spread_rest(
    plan: Plan, kinds: list[int], counts: list[int], share: dict[int, int]
) -> None:
    """Fill what shares leave open with what kinds have left, both in order."""
    waiting = [(member, left) for member, left in share.items() if left][::-1]
    for number in kinds:
        left = counts[number] - sum(plan[number].values())
        while left:
            member, room = waiting.pop()
            given = min(left, room)
            plan[number][member] = plan[number].get(member, 0) + given
            left -= given
            if room > given:
                waiting.append((member, room - given))
