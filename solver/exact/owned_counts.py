"""Count how many partitions of each topic every member owns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from rebalance import NOBODY, Int32, Int64


class OwnedCounts(NamedTuple):
    """Pairs (topic, owner), grouped by topic."""

    first: Int64  # (T+1,): pairs of reduced topic t are first[t]:first[t+1]
    member: Int32  # owner, in order of its first partition of the topic
    amount: Int32  # partitions of the topic that it owns


@njit(cache=True)
def owned_counts(
    owner: Int32, topic_offsets: Int64, topics: Int32, n_members: int
) -> OwnedCounts:
    """Count the pairs in one pass over the partitions of the given topics."""
    first = np.zeros(topics.size + 1, np.int64)
    member = np.empty(owner.size, np.int32)
    count = np.empty(owner.size, np.int32)
    pair_of = np.full(n_members, NOBODY, np.int64)
    end = 0
    for t in range(topics.size):
        start = end
        for p in range(topic_offsets[topics[t]], topic_offsets[topics[t] + 1]):
            c = owner[p]
            if c == NOBODY:
                continue
            # A pair before ``start`` is of an earlier topic.
            if pair_of[c] < start:
                pair_of[c] = end
                member[end] = c
                count[end] = 0
                end += 1
            count[pair_of[c]] += 1
        first[t + 1] = end
    return OwnedCounts(first, member[:end].copy(), count[:end].copy())
