"""Owners from claims, in one compiled pass over the claims (KIP-341, KIP-615)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from rebalance.claims import NOBODY, ClaimRule, Int32, Int64
from rebalance.compiled import borrowing_kernel, kernel

if TYPE_CHECKING:
    from rebalance.instance import Instance

_ANY: Final = np.int64(np.iinfo(np.int64).min)
"""No generation is older."""
_TIED: Final = NOBODY - 1
"""Less this, a member whose claim has a tie; a newer claim can still win."""


class Subscriptions(NamedTuple):
    """Subscriptions of members, as an `Instance` has them.

    Attributes
    ----------
    member_class : int32 (M,)
    class_offsets : int64 (K+1,)
    class_topics : int32
    """

    member_class: Int32
    class_offsets: Int64
    class_topics: Int32


def owners(instance: Instance) -> Int32:
    """Resolve the claims on topics to which their member subscribes.

    Returns
    -------
    int32 (P,)
        Member index, or `NOBODY`.
    """
    subscriptions = Subscriptions(
        instance.member_class, instance.class_offsets, instance.class_topics
    )
    claims = instance.claims
    oldest = _ANY
    if instance.claim_rule is ClaimRule.CURRENT_GENERATION:
        oldest = claims.generation.max(initial=oldest)
    owner = np.full(instance.n_partitions, NOBODY, dtype=np.int32)
    write_owners(
        claims.offsets,
        claims.partitions,
        claims.generation,
        subscriptions,
        instance.topic_offsets,
        instance.partition_topic,
        oldest,
        owner,
    )
    return owner


@kernel
def write_owners(
    offsets: Int64,
    partitions: Int32,
    generation: Int64,
    subscriptions: Subscriptions,
    topic_offsets: Int64,
    partition_topic: Int32,
    oldest: np.int64,
    owner: Int32,
) -> None:
    """Write the owner of each partition; claims older than ``oldest`` do not count.

    Claims of a member are grouped by topic, so a subscription is looked up once per
    topic. Of two claims, the newer generation wins; a tie leaves nobody.
    """
    n_topics = topic_offsets.size - 1
    has_tie = False
    for member in range(generation.size):
        if generation[member] >= oldest:
            k = subscriptions.member_class[member]
            first, end = (
                subscriptions.class_offsets[k],
                subscriptions.class_offsets[k + 1],
            )
            topics = subscriptions.class_topics[first:end]
            low, high, counts = 0, 0, False  # partitions of the topic, and its claims
            if topics.size == n_topics:
                high, counts = owner.size, True
            for row in range(offsets[member], offsets[member + 1]):
                partition = partitions[row]
                if partition < low or partition >= high:
                    topic = partition_topic[partition]
                    low, high = topic_offsets[topic], topic_offsets[topic + 1]
                    place = np.searchsorted(topics, topic)
                    counts = place < topics.size and topics[place] == topic
                if counts:
                    owner[partition] = _newer(owner[partition], member, generation)
                    has_tie |= owner[partition] <= _TIED
    if has_tie:
        for partition in range(owner.size):
            owner[partition] = max(owner[partition], NOBODY)


@borrowing_kernel
def _newer(held: int, member: int, generation: Int64) -> int:
    """Return the owner after one more claim; two members can be tied."""
    if held == NOBODY:
        return member
    other = held if held > NOBODY else _TIED - held
    if generation[member] > generation[other]:
        return member
    return _TIED - other if generation[member] == generation[other] else held
