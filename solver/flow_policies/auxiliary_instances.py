"""Auxiliary instances, whose dec-min assignments solve policies of other balances.

- ``per-topic``: each pair of a topic and a subscriber becomes a member with this topic
  alone, so that every topic is balanced by itself.
- Without a balance, sums of moves and mismatches are least if every partition has a
  member that is best for it alone. In the auxiliary instance these best members are the
  subscribers, and ``load`` is optimized among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np

from rebalance import (
    ABSENT,
    NOBODY,
    Assignment,
    Bools,
    ClaimRule,
    Claims,
    Instance,
    Int32,
    Int64,
)
from solver.exact import subscribed_pairs, take_rows
from solver.flow_policies.move_rack_weights import weights_of
from solver.flow_policies.place_classes import (
    PlaceClasses,
    Places,
    number_rows,
    place_classes_of,
)
from solver.policy import WeightedObjective

PAIRS_MAX: Final = 2_000_000
"""Pairs of a topic and a member; each needs a name, about 100 bytes."""

_ANY_RACK: Final = -1


class AuxiliaryInstance(NamedTuple):
    """An instance, and the numbers of its partitions and members in the given one."""

    instance: Instance
    rows: Int64  # the partition that each partition is
    member: Int64  # the member that each member is
    topic: Int64  # where members are pairs: the topic of each

    def restore(self, assignment: Assignment, given: Instance) -> Assignment:
        """Return the corresponding assignment of the given instance."""
        assignee = np.full(given.n_partitions, NOBODY, np.int32)
        member = np.append(self.member, NOBODY)  # index -1
        assignee[self.rows] = member[assignment.assignee]
        return Assignment(assignee=assignee)

    def named_prices(
        self, price: Int32 | Int64, given: Instance
    ) -> dict[str, dict[str, int]]:
        """Return the prices of pairs that are not 0, by topic and member."""
        found: dict[str, dict[str, int]] = {}
        for pair in np.flatnonzero(price).tolist():
            topic = given.topics[self.topic[pair]]
            member = given.members[self.member[pair]]
            found.setdefault(topic, {})[member] = int(price[pair])
        return found


class _Candidates(NamedTuple):
    """Members left for each class: its owner alone, or subscribers in some racks."""

    owner: Int64  # or NOBODY
    topic: Int64
    mask: Int64  # of the racks, or _ANY_RACK


def unchanged(instance: Instance) -> AuxiliaryInstance:
    """Return the instance itself."""
    rows, members = np.arange(instance.n_partitions), np.arange(len(instance.members))
    return AuxiliaryInstance(instance, rows, members, np.zeros(0, np.int64))


def pair_topics(instance: Instance) -> AuxiliaryInstance | None:
    """Pair topics with their subscribers; None if there are too many pairs."""
    n_topics, n_members = len(instance.topics), len(instance.members)
    if np.diff(instance.class_offsets)[instance.member_class].sum() > PAIRS_MAX:
        return None
    of_topic, member = subscribed_pairs(instance)
    owned_pair = instance.partition_topic * np.int64(n_members) + instance.owner
    owner = np.searchsorted(of_topic * n_members + member, owned_pair)
    racks, capacity = instance.racks, instance.capacity
    paired = replace(
        instance,
        members=_numbered_names(member.size),
        member_class=of_topic.astype(np.int32),
        class_offsets=np.arange(n_topics + 1),
        class_topics=np.arange(n_topics, dtype=np.int32),
        **_owned_by(np.where(instance.owner == NOBODY, NOBODY, owner), member.size),
        capacity=None if capacity is None else capacity[member],
        racks=None if racks is None else replace(racks, member=racks.member[member]),
        instance_ids=(),
    )
    rows = np.arange(instance.n_partitions)
    return AuxiliaryInstance(paired, rows, member, of_topic)


def restrict_to_best(
    instance: Instance, places: Places, objectives: Sequence[WeightedObjective]
) -> AuxiliaryInstance | None:
    """Restrict every partition to the members that are best for it alone.

    Partitions with the same best members form a topic. None if some are best for their
    owner in another rack and for others in the racks of replicas, but for nobody else.
    """
    classes = place_classes_of(instance, places)
    best = _best_candidates(instance, places, classes, objectives)
    if best is None:
        return None
    number, first = number_rows(*best)
    topic = number[classes.number]
    order = np.argsort(topic, kind="stable")
    rows, sizes = classes.rows[order], np.bincount(topic, minlength=first.size)
    topics = _Candidates(*(column[first] for column in best))
    member_class, class_offsets, class_topics = _subscriptions(instance, places, topics)
    racks = instance.racks
    if racks is not None:
        offsets, replicas = take_rows(racks.offsets, racks.replicas, rows)
        racks = replace(racks, offsets=offsets, replicas=replicas)
    restricted = replace(
        instance,
        topics=_numbered_names(first.size),
        topic_offsets=np.r_[0, np.cumsum(sizes)].astype(np.int64),
        member_class=member_class,
        class_offsets=class_offsets,
        class_topics=class_topics,
        **_owned_by(instance.owner[rows], len(instance.members)),
        racks=racks,
    )
    return unchanged(restricted)._replace(rows=rows)


def _numbered_names(count: int) -> tuple[str, ...]:
    return tuple(f"{number:09}" for number in range(count))


def _owned_by(owner: Int32 | Int64, n_members: int) -> dict[str, Any]:
    """Return the fields of an instance without lag from which these owners follow."""
    order = np.argsort(owner, kind="stable")
    order = order[np.searchsorted(owner[order], 0) :]
    counts = np.bincount(owner[order], minlength=n_members)
    claims = Claims(
        offsets=np.r_[0, np.cumsum(counts)].astype(np.int64),
        partitions=order.astype(np.int32),
        generation=np.zeros(n_members, np.int64),
    )
    return {"claims": claims, "claim_rule": ClaimRule.NEWEST_CLAIM, "lag": None}


def _best_candidates(
    instance: Instance,
    places: Places,
    classes: PlaceClasses,
    objectives: Sequence[WeightedObjective],
) -> _Candidates | None:
    """Select the best of the owner, others that match, and others that do not.

    None if an owner that does not match is as good as others that do, and better than
    those that do not: these members are not given by racks.
    """
    first = classes.first
    owner = instance.owner[first].astype(np.int64)
    topic = instance.partition_topic[first].astype(np.int64)
    is_owned = owner != NOBODY
    matches, mismatches = _has_others(instance, places, topic, first)
    is_best = [is_owned, matches, mismatches]
    owner_mismatches = places.is_mismatch(first, np.maximum(owner, 0))
    for objective in objectives:
        move, mismatch = weights_of(objective)
        moved = move * is_owned
        cost = [mismatch * owner_mismatches, moved, moved + mismatch]
        worst = move + mismatch + 1
        pairs = list(zip(is_best, cost, strict=True))
        least = np.minimum.reduce([np.where(b, c, worst) for b, c in pairs])
        is_best = [b & (c == least) for b, c in pairs]
    stays = is_best[0] & ~is_best[1] & ~is_best[2]
    is_narrowed = ~stays & is_best[1] & mismatches & ~is_best[2]
    if (is_narrowed & is_best[0] & owner_mismatches).any():
        return None
    return _Candidates(
        np.where(stays, owner, NOBODY),
        np.where(stays, 0, topic),
        np.where(is_narrowed, places.mask[first], _ANY_RACK),
    )


def _has_others(
    instance: Instance, places: Places, topic: Int64, partition: Int64
) -> tuple[Bools, Bools]:
    """Return whether a subscriber matches each partition, and whether one does not."""
    _, first = number_rows(instance.member_class, places.slot)
    offsets, listed = take_rows(
        instance.class_offsets, instance.class_topics, instance.member_class[first]
    )
    slots = np.repeat(places.slot[first], np.diff(offsets))
    has_slot = np.zeros((len(instance.topics), places.racks + 1), np.bool_)
    has_slot[listed, slots] = True
    matches = np.zeros(topic.size, np.bool_)
    mismatches = np.zeros(topic.size, np.bool_)
    for slot in range(places.racks + 1):
        fits = ~places.known[partition] | places.can_match(partition, slot)
        matches |= has_slot[topic, slot] & fits
        mismatches |= has_slot[topic, slot] & ~fits
    return matches, mismatches


def _subscriptions(
    instance: Instance, places: Places, topics: _Candidates
) -> tuple[Int32, Int64, Int32]:
    """Return ``member_class``, ``class_offsets`` and ``class_topics``.

    Members of one class have equal subscriptions in the given instance, one rack where
    racks count, and the same partitions that must stay.
    """
    own = np.full(len(instance.members), NOBODY, np.int64)
    private = np.flatnonzero(topics.owner != NOBODY)
    own[topics.owner[private]] = private
    rack = places.rack
    if not (topics.mask != _ANY_RACK).any():
        rack = np.full_like(rack, ABSENT)
    member_class, first = number_rows(instance.member_class, rack, own)
    # The new topics of each given topic, then of each class.
    shared = np.flatnonzero(topics.owner == NOBODY)
    shared = shared[np.argsort(topics.topic[shared], kind="stable")]
    ends = np.arange(len(instance.topics) + 1)
    shared_offsets = np.searchsorted(topics.topic[shared], ends)
    offsets, given_topic = take_rows(
        instance.class_offsets, instance.class_topics, instance.member_class[first]
    )
    of_class = np.repeat(np.arange(first.size), np.diff(offsets))
    offsets, listed = take_rows(shared_offsets, shared.astype(np.int32), given_topic)
    of_class = np.repeat(of_class, np.diff(offsets))
    mask, bit = topics.mask[listed], rack[first][of_class]
    fits = (mask == _ANY_RACK) | (bit == ABSENT) | (mask >> np.maximum(bit, 0) & 1 > 0)
    has_own = np.flatnonzero(own[first] != NOBODY)
    of_class = np.r_[of_class[fits], has_own]
    listed = np.r_[listed[fits], own[first][has_own].astype(np.int32)]
    listed = listed[np.lexsort((listed, of_class))]
    lengths = np.bincount(of_class, minlength=first.size)
    offsets = np.r_[0, np.cumsum(lengths)].astype(np.int64)
    return member_class.astype(np.int32), offsets, listed
