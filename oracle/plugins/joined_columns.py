"""Columns of an instance from the members that joined, without a document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

import numpy as np

from oracle.plugins.joining import Joining, listed_claim_of
from oracle.plugins.protocol import Mode
from rebalance import ABSENT, Claims, Instance, Int32, Int64


def instance_of_joined(
    joined: Iterable[Joining], counts: Mapping[str, int], *, mode: Mode
) -> Instance:
    """Encode a rebalance without lag and racks, as `rebalance_of` describes it."""
    by_id = {one.member_id: one for one in joined}
    members = tuple(sorted(by_id))
    people = [by_id[member_id] for member_id in members]
    topics = tuple(sorted(counts))
    index = {name: number for number, name in enumerate(topics)}
    offsets = _offsets([counts[name] for name in topics])
    member_class, class_offsets, class_topics = _classes(people, index)
    return Instance(
        group="",
        topics=topics,
        topic_offsets=offsets,
        members=members,
        member_class=member_class,
        class_offsets=class_offsets,
        class_topics=class_topics,
        claims=_claims(people, mode, index, offsets),
        instance_ids=tuple(one.instance_id for one in people),
    )


def _offsets(sizes: Sequence[int]) -> Int64:
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def _classes(
    people: Sequence[Joining], index: Mapping[str, int]
) -> tuple[Int32, Int64, Int32]:
    """Return numbers of the distinct subscriptions, by first occurrence."""
    number: dict[tuple[int, ...], int] = {}
    known: dict[tuple[str, ...], int] = {}  # as listed, mostly in the same order
    for one in people:
        listed = one.subscription.topics
        if listed not in known:
            wanted = sorted(index[topic] for topic in {*listed} if topic in index)
            known[listed] = number.setdefault(tuple(wanted), len(number))
    classes = [known[one.subscription.topics] for one in people]
    return (
        np.array(classes, dtype=np.int32),
        _offsets([len(wanted) for wanted in number]),
        np.array([*chain.from_iterable(number)], dtype=np.int32),
    )


def _claims(
    people: Sequence[Joining], mode: Mode, index: Mapping[str, int], offsets: Int64
) -> Claims:
    """Flatten the claims, by member and partition; drop what does not exist."""
    claims = [listed_claim_of(one.subscription, mode) for one in people]
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
