"""The columns of a code laid out for the rules: owners, and eligible members."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from pipeline.judging.rebalance_code import Sections, sections_of
from rebalance import NOBODY, Bools, Int32, Int64, Subscriptions, kernel, write_owners


class Layout(NamedTuple):
    """A rebalance laid out for the rules; T topics, K classes, P partitions.

    Attributes
    ----------
    topic : int32 (P,)
    eligible : bool (K, T)
    subscribed : bool (T,)
    in_play : bool (K,)
        Whether the members of a class can have partitions.
    owner : int32 (P,)
    is_claimed : bool (P,)
        Whether a subscriber claims it; of two newest claims, none is the owner's.
    can_wait : bool (P,)
        Whether it can be withheld in a cooperative round.
    """

    topic: Int32
    eligible: Bools
    subscribed: Bools
    in_play: Bools
    owner: Int32
    is_claimed: Bools
    can_wait: Bools


InstanceColumns: TypeAlias = tuple[
    Int64, Int64, Int32, Int64, Int32, Int64, Int32, Int64, Int32, Int32, Int32
]
"""Columns of `rebalance.Instance`: ``topic_offsets``, ``lag``, ``member_class``,
``class_offsets``, ``class_topics``, generations, racks of members, offsets and
partitions of claims, ``partition_topic``, and ``owner``."""


@kernel
def instance_columns(code: Int64, current_generation: bool) -> InstanceColumns:
    """Read the columns that heuristics need, with resolved owners."""
    sections = sections_of(code)
    layout = lay_out(sections, current_generation)
    return (
        sections.topic_offsets,
        sections.lag,
        sections.member_class,
        sections.class_offsets,
        sections.class_topics,
        sections.generation,
        sections.rack.astype(np.int32),
        sections.claim_offsets,
        sections.claims,
        layout.topic,
        layout.owner,
    )


@kernel
def lay_out(sections: Sections, current_generation: bool) -> Layout:
    """Resolve the claims of a rebalance."""
    offsets, of_member = sections.topic_offsets, sections.member_class
    n_topics, n_members = offsets.size - 1, of_member.size
    first, listed = sections.class_offsets, sections.class_topics
    n_classes, n_partitions = first.size - 1, offsets[n_topics]
    eligible = np.zeros((n_classes, n_topics), np.bool_)
    subscribed = np.zeros(n_topics, np.bool_)
    in_play = np.zeros(n_classes, np.bool_)
    for k in range(n_classes):
        for t in listed[first[k] : first[k + 1]]:
            eligible[k, t] = subscribed[t] = True
            in_play[k] |= offsets[t + 1] > offsets[t]
    topic = np.empty(n_partitions, np.int32)
    for t in range(n_topics):
        topic[offsets[t] : offsets[t + 1]] = t
    oldest = np.int64(np.iinfo(np.int64).min)
    if current_generation and n_members:
        oldest = sections.generation.max()
    owner = np.full(n_partitions, NOBODY, np.int32)
    subscriptions = Subscriptions(of_member, first, listed)
    write_owners(
        sections.claim_offsets,
        sections.claims,
        sections.generation,
        subscriptions,
        offsets,
        topic,
        oldest,
        owner,
    )
    is_claimed = np.zeros(n_partitions, np.bool_)
    can_wait = np.zeros(n_partitions, np.bool_)
    for m in range(n_members):
        if sections.generation[m] < oldest:
            continue
        for row in range(sections.claim_offsets[m], sections.claim_offsets[m + 1]):
            p = sections.claims[row]
            is_claimed[p] |= eligible[of_member[m], topic[p]]
            can_wait[p] |= subscribed[topic[p]]
    return Layout(topic, eligible, subscribed, in_play, owner, is_claimed, can_wait)
