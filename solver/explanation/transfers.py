"""Decomposition of the difference of two assignments into chains and cycles.

An arc per partition leads from its member before to its member after. Flow
decomposition: arcs from members that give more than they receive to members that
receive more form paths, here *chains*; all others form *cycles*, which change no load.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from rebalance import Int32, Int64


class Transfer(NamedTuple):
    """One partition that goes from one member to another."""

    partition: int  # row of the instance
    giver: int
    receiver: int


Chain = tuple[Transfer, ...]  # each receiver is the giver of the next transfer


class Difference(NamedTuple):
    """The transfers that lead from one assignment to another."""

    chains: list[Chain]
    cycles: list[Chain]


def decompose(before: Int32, after: Int32, n_members: int) -> Difference:
    """Decompose the difference of two assignments of the same partitions.

    Deterministic: chains begin at the member that holds most, and a member passes its
    lowest partitions first.

    Parameters
    ----------
    before, after : int32 (P,)
        Member of each partition; a partition without a member has none in both.
    n_members : int
    """
    rows = np.flatnonzero(before != after)[::-1]
    arcs: defaultdict[int, list[Transfer]] = defaultdict(list)
    for row, giver, receiver in zip(
        rows.tolist(), before[rows].tolist(), after[rows].tolist(), strict=True
    ):
        arcs[giver].append(Transfer(row, giver, receiver))
    loads = _loads(before, n_members)
    excess = (loads - _loads(after, n_members)).tolist()
    found = Difference([], [])
    for start in np.argsort(-loads, kind="stable").tolist():
        while excess[start] > 0:
            chain = _walk(start, arcs, excess, found.cycles)
            excess[start] -= 1
            excess[chain[-1].receiver] += 1
            found.chains.append(chain)
    for start in sorted(arcs):
        while arcs[start]:
            _walk(start, arcs, excess, found.cycles)
    return found


def apply(assignee: Int32, *chains: Chain) -> Int32:
    """Return the assignment after some chains or cycles."""
    changed = assignee.copy()
    for chain in chains:
        for transfer in chain:
            changed[transfer.partition] = transfer.receiver
    return changed


def _walk(
    start: int,
    arcs: defaultdict[int, list[Transfer]],
    excess: list[int],
    cycles: list[Chain],
) -> Chain:
    """Follow arcs to a member that lacks partitions; cut off each cycle on the way.

    Without such a member the walk ends where it began, with an empty chain: every other
    member passes on the partition that it receives.
    """
    path: list[Transfer] = []
    place = {start: 0}
    member = start
    while excess[member] >= 0:
        if not arcs[member]:
            break
        path.append(arcs[member].pop())
        member = path[-1].receiver
        if member in place:
            cycles.append(tuple(path[place[member] :]))
            for transfer in path[place[member] : -1]:
                del place[transfer.receiver]
            del path[place[member] :]
        else:
            place[member] = len(path)
    return tuple(path)


def _loads(assignee: Int32, n_members: int) -> Int64:
    return np.bincount(assignee[assignee >= 0], minlength=n_members)
