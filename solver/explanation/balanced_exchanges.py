"""Needless moves of a balanced assignment: exchanges that keep more claims.

The difference between a dec-min assignment and the stickiest one decomposes into chains
and cycles. Each of them leads to another dec-min assignment, and none moves more: it
could be reversed in the stickiest one. So those that move less add up to all needless
moves, and the others are left out. docs/explain.md has the argument.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import NamedTuple

import numpy as np

from rebalance import NOBODY, Assignment, Instance, Int32
from solver.explanation.transfers import Chain, decompose


class Exchange(NamedTuple):
    """Transfers, each of a partition to the next giver, that keep more claims."""

    transfers: Chain
    fewer_moves: int


def needless_moves(
    instance: Instance, assignment: Assignment, stickiest: Assignment
) -> list[Exchange]:
    """Return the exchanges that restore all claims which balance does not forbid.

    Parameters
    ----------
    assignment, stickiest : Assignment
        Both dec-min balanced; the second keeps as many claims as possible.

    Returns
    -------
    list of Exchange
        Most moves per exchange first, then the fewest transfers.
    """
    before = assignment.assignee
    after = _renumbered(instance, before, stickiest.assignee)
    found = decompose(before, after, len(instance.members))
    owner = instance.owner.tolist()
    exchanges = [
        Exchange(
            cycle,
            sum(
                (owner[t.partition] == t.receiver) - (owner[t.partition] == t.giver)
                for t in cycle
            ),
        )
        for cycle in (*found.cycles, *found.chains)
    ]
    useful = [exchange for exchange in exchanges if exchange.fewer_moves > 0]
    return sorted(
        useful, key=lambda exchange: (-exchange.fewer_moves, len(exchange.transfers))
    )


def _renumbered(instance: Instance, before: Int32, after: Int32) -> Int32:
    """Choose the partitions of each (topic, member) pair so that fewer change.

    The number of partitions per pair, and of claims kept, stays the same.
    """
    chosen = after.copy()
    rows = np.flatnonzero(before != after)
    for topic in np.unique(instance.partition_topic[rows]).tolist():
        first, last = instance.topic_offsets[topic : topic + 2].tolist()
        part = slice(first, last)
        chosen[part] = _choose(
            instance.owner[part].tolist(), before[part].tolist(), after[part].tolist()
        )
    return chosen


def _choose(owner: list[int], before: list[int], after: list[int]) -> list[int]:
    """Choose the member of each partition of one topic, `NOBODY` for none."""
    left = Counter(after)
    kept = Counter(a for a, o in zip(after, owner, strict=True) if a == o != NOBODY)
    chosen: list[int] = [NOBODY] * len(after)
    is_open = defaultdict(list)  # by whether it stays where it is
    for number, o in enumerate(owner):
        if o != NOBODY:
            is_open[before[number] == o].append(number)
    for number in (*is_open[True], *is_open[False]):  # claims that are kept
        member = owner[number]
        if kept[member]:
            kept[member] -= 1
            left[member] -= 1
            chosen[number] = member
    rest = [number for number, member in enumerate(chosen) if member == NOBODY]
    for number in rest:  # others, where they are
        member = before[number]
        if left[member] > 0:
            left[member] -= 1
            chosen[number] = member
    missing = [number for number in rest if chosen[number] == NOBODY]
    for number, member in zip(missing, sorted(left.elements()), strict=True):
        chosen[number] = member
    return chosen
