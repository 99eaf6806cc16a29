"""Mutable assignment: one doubly linked list of partitions per member."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rebalance import NOBODY, Int32, borrowing_kernel, kernel


class AssignmentState(NamedTuple):
    """Partitions of M members; P partitions.

    Attributes
    ----------
    holder : int32 (P,)
        Member that holds the partition; -1: none.
    first : int32 (M,)
        The partition that the member received last; -1: none.
    after, before : int32 (P,)
        Next and previous partition in the holder's list; -1: none.
    """

    holder: Int32
    first: Int32
    after: Int32
    before: Int32


@kernel
def empty_state(members: int, partitions: int) -> AssignmentState:
    """Return a state in which every partition is free."""
    return AssignmentState(
        np.full(partitions, NOBODY, np.int32),
        np.full(members, NOBODY, np.int32),
        np.full(partitions, NOBODY, np.int32),
        np.full(partitions, NOBODY, np.int32),
    )


@borrowing_kernel
def give(state: AssignmentState, p: int, member: int) -> None:
    """Give a free partition to a member."""
    state.holder[p] = member
    first = state.first[member]
    state.after[p], state.before[p] = first, NOBODY
    if first != NOBODY:
        state.before[first] = p
    state.first[member] = p


@borrowing_kernel
def take(state: AssignmentState, p: int) -> None:
    """Take a partition from its holder."""
    after, before = state.after[p], state.before[p]
    if before == NOBODY:
        state.first[state.holder[p]] = after
    else:
        state.after[before] = after
    if after != NOBODY:
        state.before[after] = before
    state.holder[p] = NOBODY


@borrowing_kernel
def move(state: AssignmentState, p: int, member: int) -> None:
    """Take a partition from its holder and give it to a member."""
    take(state, p)
    give(state, p, member)
