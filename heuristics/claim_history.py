"""Claims beyond ownership: subscribed claims, revocations, and previous owners."""

from __future__ import annotations

import numpy as np

from heuristics.order import text_order
from rebalance import NOBODY, Bools, Instance, Int32, Int64, kernel, owners_by_any_claim


def wanted_claims(instance: Instance) -> Bools:
    """Select the claims on topics to which the claiming member subscribes.

    Returns
    -------
    bool, as long as ``instance.claims.partitions``
    """
    return _wanted(
        instance.claims.offsets,
        instance.claims.partitions,
        instance.partition_topic,
        instance.member_class,
        instance.class_offsets,
        instance.class_topics,
    )


def must_revoke(instance: Instance, wanted: Bools) -> bool:
    """Return whether a member must revoke a partition because it left the topic.

    That is: if subscriptions were ignored, it would own a partition of a topic to which
    it does not subscribe but another member does.
    """
    if wanted.all():
        return False
    believed = owners_by_any_claim(instance)
    is_served = instance.topic_subscribed[instance.partition_topic]
    unwanted = (believed != NOBODY) & (believed != instance.owner)
    return bool((unwanted & is_served).any())


def previous_owners(instance: Instance, wanted: Bools) -> Int32:
    """Return each partition's previous owner, from claims older than the newest.

    Among several claims, the highest generation wins, then the least member id;
    upstream uses hash order there.

    Returns
    -------
    int32 (P,)
        Member index, or `NOBODY`.
    """
    claims = instance.claims
    nobody = np.full(instance.n_partitions, NOBODY, dtype=np.int32)
    if claims.generation.size == 0 or claims.generation.min() == (
        newest := claims.generation.max()
    ):
        return nobody
    members = text_order(instance.members)
    older = members[claims.generation[members] < newest]
    by_age = older[np.argsort(-claims.generation[older], kind="stable")]
    _claim_first(nobody, by_age, claims.offsets, claims.partitions, wanted)
    return nobody


@kernel
def _claim_first(
    owner: Int32, members: Int64, offsets: Int64, partitions: Int32, wanted: Bools
) -> None:
    """Set the owner of each partition to the first of ``members`` that claims it."""
    for m in members:
        for i in range(offsets[m], offsets[m + 1]):
            row = partitions[i]
            if wanted[i] and owner[row] == NOBODY:
                owner[row] = m


@kernel
def _wanted(
    offsets: Int64,
    partitions: Int32,
    partition_topic: Int32,
    member_class: Int32,
    class_offsets: Int64,
    class_topics: Int32,
) -> Bools:
    """Look up one topic per run of claims; claims are sorted by topic."""
    wanted = np.empty(partitions.size, dtype=np.bool_)
    for m in range(member_class.size):
        k = member_class[m]
        topics = class_topics[class_offsets[k] : class_offsets[k + 1]]
        last_topic, is_wanted = -1, False
        for i in range(offsets[m], offsets[m + 1]):
            topic = partition_topic[partitions[i]]
            if topic != last_topic:
                at = np.searchsorted(topics, topic)
                is_wanted = at < topics.size and topics[at] == topic
                last_topic = topic
            wanted[i] = is_wanted
    return wanted
