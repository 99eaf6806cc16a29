"""Claims beyond ownership: subscribed claims, revocations, and previous owners."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from heuristics.eligible_members import eligible_members_of
from heuristics.group_columns import GroupColumns, columns_of
from rebalance import (
    NOBODY,
    Bools,
    ClaimRule,
    Instance,
    Int32,
    Int64,
    Subscriptions,
    borrowing_kernel,
    kernel,
    write_owners,
)

ClaimColumns: TypeAlias = tuple[Int64, Int32, Int64, bool]
"""Columns ``offsets``, ``partitions``, and ``generation`` of `rebalance.Claims`; and
whether only claims of the newest generation count."""


class Past(NamedTuple):
    """Values that the general path of ``sticky`` considers in addition to owners.

    Attributes
    ----------
    previous : int32 (P,)
        Member that owned the partition before, or `NOBODY`.
    must_revoke : bool
        Whether a member must revoke a partition because it left the topic.
    """

    previous: Int32
    must_revoke: bool


def claim_columns_of(instance: Instance) -> ClaimColumns:
    """Return the claims of an instance."""
    claims, rule = instance.claims, instance.claim_rule
    is_strict = rule is ClaimRule.CURRENT_GENERATION
    return claims.offsets, claims.partitions, claims.generation, is_strict


def wanted_claims(instance: Instance) -> Bools:
    """Select the claims on topics to which the claiming member subscribes.

    Returns
    -------
    bool, as long as ``instance.claims.partitions``
    """
    group = GroupColumns(*columns_of(instance))
    return wanted_of(group, instance.partition_topic, claim_columns_of(instance))


@kernel
def past_of(
    group: GroupColumns, topic: Int32, owner: Int32, claims: ClaimColumns
) -> Past:
    """Look up previous owners, and whether a member must revoke."""
    wanted = wanted_of(group, topic, claims)
    previous = _previous_owners(group, owner.size, claims, wanted)
    return Past(previous, _must_revoke(group, topic, owner, claims, wanted))


@kernel
def claimed_of(group: GroupColumns, topic: Int32, claims: ClaimColumns) -> Bools:
    """Return which partitions have a claim that counts, bool (P,)."""
    offsets, partitions, generation, _ = claims
    wanted = wanted_of(group, topic, claims)
    claimed = np.zeros(topic.size, dtype=np.bool_)
    for m in np.flatnonzero(generation >= _oldest(claims)):
        for i in range(offsets[m], offsets[m + 1]):
            claimed[partitions[i]] |= wanted[i]
    return claimed


@kernel
def _oldest(claims: ClaimColumns) -> np.int64:
    """Return the oldest generation whose claims count."""
    _, _, generation, is_strict = claims
    if is_strict and generation.size > 0:
        return np.int64(generation.max())
    return np.int64(np.iinfo(np.int64).min)


@kernel
def _must_revoke(
    group: GroupColumns, topic: Int32, owner: Int32, claims: ClaimColumns, wanted: Bools
) -> bool:
    """Return whether a member must revoke a partition because it left the topic.

    That is: if subscriptions were ignored, it would own a partition of a topic to which
    it does not subscribe but another member does.
    """
    if wanted.all():
        return False
    offsets, partitions, generation, _ = claims
    everything = Subscriptions(
        np.zeros(group.members.size, dtype=np.int32),
        np.array([0, group.topics.size], dtype=np.int64),
        np.arange(group.topics.size).astype(np.int32),
    )
    believed = np.full(topic.size, NOBODY, dtype=np.int32)
    write_owners(
        offsets,
        partitions,
        generation,
        everything,
        group.topic_offsets,
        topic,
        _oldest(claims),
        believed,
    )
    eligible = eligible_members_of(group)
    is_served = eligible.first < eligible.last
    is_unwanted = (believed != NOBODY) & (believed != owner)
    return bool((is_unwanted & is_served[topic]).any())


@kernel
def _previous_owners(
    group: GroupColumns, n_partitions: int, claims: ClaimColumns, wanted: Bools
) -> Int32:
    """Return each partition's previous owner, from claims older than the newest.

    Among several claims, the highest generation wins, then the least member id;
    upstream uses hash order there.
    """
    offsets, partitions, generation, _ = claims
    nobody = np.full(n_partitions, NOBODY, dtype=np.int32)
    if generation.size > 0:
        members = group.members
        older = members[generation[members] < generation.max()]
        by_age = older[np.argsort(-generation[older], kind="mergesort")]
        _claim_first(nobody, by_age, offsets, partitions, wanted)
    return nobody


@borrowing_kernel
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
def wanted_of(group: GroupColumns, topic: Int32, claims: ClaimColumns) -> Bools:
    """Look up one topic per run of claims; claims are sorted by topic."""
    offsets, partitions, _, _ = claims
    wanted = np.empty(partitions.size, dtype=np.bool_)
    for m in range(group.member_class.size):
        k = group.member_class[m]
        start, end = group.class_offsets[k], group.class_offsets[k + 1]
        topics = group.class_topics[start:end]
        last_topic, is_wanted = -1, False
        for i in range(offsets[m], offsets[m + 1]):
            t = topic[partitions[i]]
            if t != last_topic:
                at = np.searchsorted(topics, t)
                is_wanted = at < topics.size and topics[at] == t
                last_topic = t
            wanted[i] = is_wanted
    return wanted
