"""Warm start of a solve: the region of the balance, and an allowed assignment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from heapq import heapify, heapreplace

import numpy as np

from rebalance import NOBODY, Assignment
from solver import exact
from solver.cpsat.balance_region import CpRegion, key_of, per_topic_region, region_of
from solver.cpsat.cp_instance import (
    ClassCounts,
    CpInstance,
    CpTotals,
    Distinctions,
    cp_instance_of,
)
from solver.objectives import meets_kip54_or_spread, values_of
from solver.policy import BalanceKind, Policy
from solver.result import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmStart:
    """Values that are known before the first run."""

    region: CpRegion  # contains all balanced assignments
    assignment: Assignment | None  # the best allowed one among cheap candidates
    least_loads: tuple[int, ...] | None  # dec-min: no assignment has a lesser vector


def warm_start(cp: CpInstance, policy: Policy, hint: Assignment | None) -> WarmStart:
    """Compute the region of the balance, and select the best allowed candidate."""
    instance, least_loads = cp.instance, None
    coarse = cp_instance_of(
        instance, Distinctions(topics=cp.distinctions.topics, owners=True)
    )
    candidates = [] if hint is None else [hint]
    if policy.balance.kind is BalanceKind.PER_TOPIC:
        even = _greedy(coarse, by_topic=True)
        region = per_topic_region(coarse, CpTotals.of(coarse, even))
        candidates.append(coarse.assignment(even))
    else:
        core = exact.solve(instance)
        counts = coarse.class_counts(core.require_assignment())
        dec_min = CpTotals.of(coarse, counts)
        region = region_of(coarse, policy.balance.kind, dec_min)
        least_loads = dec_min.load_vector
        candidates += _candidates(coarse, policy.balance.kind, core)
    allowed = [
        candidate
        for candidate in candidates
        if _is_allowed(coarse, policy, region, candidate)
    ]
    best = min(
        allowed,
        key=lambda candidate: values_of(instance, candidate, policy),
        default=None,
    )
    return WarmStart(region=region, assignment=best, least_loads=least_loads)


def _candidates(
    cp: CpInstance, kind: BalanceKind, core: Result
) -> Iterator[Assignment]:
    """Yield assignments that can meet a balance, the most likely first."""
    if cp.instance.capacity is None:
        yield core.require_assignment()
    elif kind is BalanceKind.KIP54:  # which disregards capacities
        by_count = replace(cp.instance, capacity=None)
        yield exact.solve(by_count).require_assignment()
    else:
        yield core.require_assignment()
        yield cp.assignment(_greedy(cp))
    yield cp.assignment(_greedy(cp, keep=True))


def _greedy(
    cp: CpInstance, *, by_topic: bool = False, keep: bool = False
) -> ClassCounts:
    """Assign each partition to the subscriber with the least next key.

    Within a single topic that is dec-min. Owners get partitions that they own as far as
    their share of a pool allows; with ``keep``, all of them, whatever the share.
    """
    loads = [0] * len(cp.members)
    classes_of: list[list[int]] = [[] for _ in cp.pools]
    counts: ClassCounts = [{} for _ in cp.classes]
    for k, class_ in enumerate(cp.classes):
        if keep and class_.owner != NOBODY:
            loads[class_.owner] += class_.size
            counts[k] = {class_.owner: class_.size}
        else:
            classes_of[class_.pool].append(k)
    for pool, classes in zip(cp.pools, classes_of, strict=True):
        if by_topic:
            loads = [0] * len(cp.members)
        size = sum(cp.classes[k].size for k in classes)
        share = _shares(cp, pool.subscribers, loads, size)
        for k in classes:
            owner = cp.classes[k].owner
            own = min(share.get(owner, 0), cp.classes[k].size)
            if own:
                counts[k][owner] = own
                share[owner] -= own
        _fill(cp, counts, classes, share)
    return counts


def _shares(
    cp: CpInstance, subscribers: tuple[int, ...], loads: list[int], size: int
) -> dict[int, int]:
    """Divide partitions among subscribers by least next key; ``loads`` increase."""
    share = dict.fromkeys(subscribers, 0)
    heap = [(key_of(cp, m, loads[m] + 1), m) for m in subscribers]
    heapify(heap)
    for _ in range(size):
        member = heap[0][1]
        share[member] += 1
        loads[member] += 1
        heapreplace(heap, (key_of(cp, member, loads[member] + 1), member))
    return share


def _fill(
    cp: CpInstance, counts: ClassCounts, classes: list[int], share: dict[int, int]
) -> None:
    """Fill the remaining shares with the remaining partitions, both in order."""
    waiting = [(member, left) for member, left in share.items() if left][::-1]
    for k in classes:
        left = cp.classes[k].size - sum(counts[k].values())
        while left:
            member, free = waiting.pop()
            given = min(left, free)
            counts[k][member] = counts[k].get(member, 0) + given
            left -= given
            if free > given:
                waiting.append((member, free - given))


def _is_allowed(
    cp: CpInstance, policy: Policy, region: CpRegion, assignment: Assignment
) -> bool:
    """Return whether an assignment is valid and meets balance and move budget."""
    instance, assignee = cp.instance, assignment.assignee
    assigned = instance.topic_subscribed[instance.partition_topic]
    if not np.array_equal(assignee != NOBODY, assigned):
        return False
    if not instance.in_play[assignee[assigned]].all():
        return False
    totals = CpTotals.of(cp, cp.class_counts(assignment))
    if not region.contains(totals):
        return False
    moves = cp.owned - totals.kept
    if policy.max_moves is not None and moves > policy.max_moves:
        return False
    # All balances but two are their regions.
    return meets_kip54_or_spread(instance, policy.balance, assignment)
