"""Columns of an instance from the members that joined, without a document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

import numpy as np

from oracle.plugins.joining import Joining, listed_claim_of
from oracle.plugins.protocol_modes import Mode
from rebalance import ABSENT, Claims, Instance, Int64, subscription_classes


def instance_of_joined(
    joined: Iterable[Joining], counts: Mapping[str, int], *, mode: Mode
) -> Instance:
    """Encode a rebalance without lag and racks, as `rebalance_of` describes it."""
    by_id = {member.member_id: member for member in joined}
    members = tuple(sorted(by_id))
    people = [by_id[member_id] for member_id in members]
    topics = tuple(sorted(counts))
    index = {name: number for number, name in enumerate(topics)}
    offsets = _offsets([counts[name] for name in topics])
    listed = (member.subscription.topics for member in people)
    member_class, class_offsets, class_topics = subscription_classes(listed, index)
    return Instance(
        group="",
        topics=topics,
        topic_offsets=offsets,
        members=members,
        member_class=member_class,
        class_offsets=class_offsets,
        class_topics=class_topics,
        claims=_claims(people, mode, index, offsets),
        instance_ids=tuple(member.instance_id for member in people),
    )


def _offsets(sizes: Sequence[int]) -> Int64:
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def _claims(
    people: Sequence[Joining], mode: Mode, index: Mapping[str, int], offsets: Int64
) -> Claims:
    """Flatten the claims, by member and partition; drop those that do not exist."""
    claims = [listed_claim_of(joining.subscription, mode) for joining in people]
    listed = [*chain.from_iterable(claim.partitions for claim in claims)]
    sizes = [len(numbers) for _, numbers in listed]
    number = np.fromiter(
        chain.from_iterable(numbers for _, numbers in listed),
        dtype=np.int64,
        count=sum(sizes),
    )
    topics = [index.get(topic, ABSENT) for topic, _ in listed]
    topic = np.repeat(np.array(topics, dtype=np.int64), sizes)
    pairs = [len(claim.partitions) for claim in claims]
    of_pair = np.repeat(np.arange(len(people)), pairs)
    member = np.repeat(of_pair, sizes)
    exists = (topic != ABSENT) & (number >= 0)
    exists[exists] = number[exists] < np.diff(offsets)[topic[exists]]
    member, topic, number = member[exists], topic[exists], number[exists]
    place = member * offsets[-1] + offsets[topic] + number
    if (place[1:] <= place[:-1]).any():  # rarely: listed in another order, or twice
        place = np.unique(place)
        member = place // offsets[-1]
    return Claims(
        offsets=_offsets(np.bincount(member, minlength=len(people)).tolist()),
        partitions=(place - member * offsets[-1]).astype(np.int32),
        generation=np.array([claim.generation for claim in claims], dtype=np.int64),
    )
