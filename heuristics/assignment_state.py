"""Who holds what while it is being moved: a linked list of partitions a member."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from rebalance import NOBODY, Int32


class Held(NamedTuple):
    """Partitions of M members; P partitions.

    Attributes
    ----------
    holder : int32 (P,)
        -1 nobody.
    first : int32 (M,)
        A partition that the member holds, the last it was given; -1 none.
    after, before : int32 (P,)
        The next one and the one before that its holder holds; -1 none.
    """

    holder: Int32
    first: Int32
    after: Int32
    before: Int32


@njit(cache=True)
def nothing_held(members: int, partitions: int) -> Held:
    """Begin with all partitions free."""
    return Held(
        np.full(partitions, NOBODY, np.int32),
        np.full(members, NOBODY, np.int32),
        np.full(partitions, NOBODY, np.int32),
        np.full(partitions, NOBODY, np.int32),
    )


@njit(cache=True)
def give(held: Held, p: int, member: int) -> None:
    """Give a free partition to a member."""
    held.holder[p] = member
    first = held.first[member]
    held.after[p], held.before[p] = first, NOBODY
    if first != NOBODY:
        held.before[first] = p
    held.first[member] = p


@njit(cache=True)
def take(held: Held, p: int) -> None:
    """Take a partition from its holder."""
    after, before = held.after[p], held.before[p]
    if before == NOBODY:
        held.first[held.holder[p]] = after
    else:
        held.after[before] = after
    if after != NOBODY:
        held.before[after] = before
    held.holder[p] = NOBODY
