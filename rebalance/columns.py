"""Encoding of a rebalance/1 document as the columns of an `Instance`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, chain, repeat

import numpy as np

from rebalance.claims import ClaimRule, Claims, Int32, Int64
from rebalance.documents import INT64_MAX, UNKNOWN_GENERATION, Member, Rebalance, Topic
from rebalance.errors import InstanceError
from rebalance.instance import ABSENT, Instance, Racks


def instance_of(
    document: Rebalance, *, claim_rule: ClaimRule = ClaimRule.NEWEST_CLAIM
) -> Instance:
    """Encode a document as columns and resolve the owners.

    A claim on a topic or partition that does not exist is dropped; so is a subscription
    to a topic that does not exist (KAFKA-7962).

    Raises
    ------
    InstanceError
        If the lag of all partitions together does not fit 64 bits.
    """
    names = tuple(sorted(document.topics))
    members = tuple(sorted(document.members))
    topics = [document.topics[name] for name in names]
    people = [document.members[member_id] for member_id in members]
    offsets = _offsets([topic.partitions for topic in topics])
    index = {name: t for t, name in enumerate(names)}
    listed = (member.subscription for member in people)
    member_class, class_offsets, class_topics = subscription_classes(listed, index)
    return Instance(
        group=document.group,
        id=document.id,
        topics=names,
        topic_offsets=offsets,
        members=members,
        member_class=member_class,
        class_offsets=class_offsets,
        class_topics=class_topics,
        claims=_claims(people, index, offsets),
        claim_rule=claim_rule,
        lag=_lag(names, topics),
        capacity=_capacity(people),
        racks=_racks(topics, people),
        instance_ids=tuple(member.instance_id for member in people),
    )


def _offsets(sizes: Sequence[int]) -> Int64:
    return np.array([0, *accumulate(sizes)], dtype=np.int64)


def subscription_classes(
    listed: Iterable[Sequence[str]], index: Mapping[str, int]
) -> tuple[Int32, Int64, Int32]:
    """Return numbers of the distinct subscriptions, by first occurrence.

    Parameters
    ----------
    listed
        Names of topics per member, M members.
    index
        Number of each topic that exists; others are dropped.

    Returns
    -------
    int32 (M,), int64 (K+1,), int32
        Class of each member, offsets of the classes, topics of the classes, ascending.
    """
    number: dict[tuple[int, ...], int] = {}
    known: dict[tuple[str, ...], int] = {}  # as listed, mostly in the same order
    classes = []
    for names in map(tuple, listed):
        if names not in known:
            wanted = sorted({index[name] for name in names if name in index})
            known[names] = number.setdefault(tuple(wanted), len(number))
        classes.append(known[names])
    return (
        np.array(classes, dtype=np.int32),
        _offsets([len(wanted) for wanted in number]),
        np.array([*chain.from_iterable(number)], dtype=np.int32),
    )


def _claims(people: list[Member], index: dict[str, int], offsets: Int64) -> Claims:
    """Flatten the claims, by member and topic; drop those that do not exist."""
    owned = [member.owned or {} for member in people]
    lists = list(chain.from_iterable(claims.values() for claims in owned))
    indices = map(index.get, chain.from_iterable(owned), repeat(ABSENT))
    topics = np.fromiter(indices, dtype=np.int64, count=len(lists))
    sizes = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
    topic = np.repeat(topics, sizes)
    number = np.array(list(chain.from_iterable(lists)), dtype=np.int64)
    per_member = np.array([len(claims) for claims in owned], dtype=np.int64)
    claimant = np.repeat(np.repeat(np.arange(len(owned)), per_member), sizes)
    exists = topic != ABSENT
    claimant, topic, number = claimant[exists], topic[exists], number[exists]
    exists = number < (offsets[1:] - offsets[:-1])[topic]
    claimant, topic, number = claimant[exists], topic[exists], number[exists]
    order = np.lexsort((topic, claimant))  # stable: numbers stay as they are listed
    rows = (offsets[topic] + number)[order].astype(np.int32)
    known = [
        UNKNOWN_GENERATION if member.generation is None else member.generation
        for member in people
    ]
    return Claims(
        offsets=_offsets(np.bincount(claimant, minlength=len(owned)).tolist()),
        partitions=rows,
        generation=np.array(known, dtype=np.int64),
    )


def _lag(names: tuple[str, ...], topics: list[Topic]) -> Int64 | None:
    """Concatenate lags; 0 for a topic without a list. None if no topic has a list."""
    if all(topic.lag is None for topic in topics):
        return None
    flat: list[int] = []
    total = 0
    for name, topic in zip(names, topics, strict=True):
        listed = [0] * topic.partitions if topic.lag is None else topic.lag
        total += sum(listed)
        if total > INT64_MAX:
            raise InstanceError("total lag exceeds 2^63 - 1 at topic", subject=name)
        flat.extend(listed)
    return np.array(flat, dtype=np.int64)


def _capacity(people: list[Member]) -> Int64 | None:
    """Return the capacities; 1 for a member without one. None if no member has one."""
    if all(member.capacity is None for member in people):
        return None
    listed = [1 if m.capacity is None else m.capacity for m in people]
    return np.array(listed, dtype=np.int64)


def _racks(topics: list[Topic], people: list[Member]) -> Racks | None:
    if all(t.racks is None for t in topics) and all(m.rack is None for m in people):
        return None
    replicas: list[list[str]] = []
    for topic in topics:
        replicas.extend(topic.racks or [[]] * topic.partitions)
    names = {name for listed in replicas for name in listed}
    names |= {member.rack for member in people if member.rack is not None}
    code = {name: r for r, name in enumerate(sorted(names))}
    coded = [sorted({code[name] for name in listed}) for listed in replicas]
    seats = [ABSENT if m.rack is None else code[m.rack] for m in people]
    return Racks(
        names=tuple(code),
        member=np.array(seats, dtype=np.int32),
        offsets=_offsets([len(listed) for listed in coded]),
        replicas=np.array([r for listed in coded for r in listed], dtype=np.int32),
    )
