"""An instance in which each partition may only sit where it costs least alone.

Where nothing is asked of balance, sums of moves and mismatches are least when each
partition by itself sits best. What is left open is told by another instance, in which
partitions of the same seats make a topic: one for what must stay with a member, and
one for each topic and set of racks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from rebalance import Assignment, ClaimRule, Claims, Instance
from rebalance.claims import NOBODY, Bools, Int32, Int64
from rebalance.instance import ABSENT, Racks
from solver.flow_policies.kinds import Kinds, Places, dense, kinds_of
from solver.flow_policies.levels import weights_of
from solver.policy import WeightedObjective

_ANYWHERE = -1


class Restricted(NamedTuple):
    """The instance, and which partition of the given one each of its own is."""

    instance: Instance
    rows: Int64

    def given(self, assignment: Assignment, partitions: int) -> Assignment:
        """Return an assignment of it as one of the given instance."""
        assignee = np.full(partitions, NOBODY, np.int32)
        assignee[self.rows] = assignment.assignee
        return Assignment(assignee=assignee)


class _Seats(NamedTuple):
    """Seats of each kind: an owner alone, or a topic's subscribers near a mask."""

    owner: Int64  # or NOBODY
    topic: Int64
    mask: Int64  # or _ANYWHERE


def restricted(
    instance: Instance, places: Places, levels: Sequence[WeightedObjective]
) -> Restricted:
    """Leave every partition its best seats for the levels, in their order."""
    kinds = kinds_of(instance, places)
    seats = _seats(instance, places, kinds, levels)
    number, first = dense(seats.owner, seats.topic, seats.mask)
    of_row = number[kinds.kind]
    order = np.argsort(of_row, kind="stable")
    rows = kinds.rows[order]
    new = _Seats(*(column[first] for column in seats))
    member_class, offsets, topics = _classes(instance, places, new)
    sizes = np.bincount(of_row, minlength=first.size)
    changed = replace(
        instance,
        topics=tuple(f"{number:09}" for number in range(first.size)),
        topic_offsets=np.r_[0, np.cumsum(sizes)].astype(np.int64),
        member_class=member_class,
        class_offsets=offsets,
        class_topics=topics,
        claims=claims_of(instance.owner[rows], len(instance.members)),
        claim_rule=ClaimRule.NEWEST_CLAIM,
        lag=None,
        racks=racks_of(instance.racks, rows),
    )
    return Restricted(changed, rows)


def claims_of(owner: Int32, members: int) -> Claims:
    """Return claims that make these owners."""
    order = np.argsort(owner, kind="stable")
    order = order[np.searchsorted(owner[order], 0) :]
    counts = np.bincount(owner[order], minlength=members)
    return Claims(
        offsets=np.r_[0, np.cumsum(counts)].astype(np.int64),
        partitions=order.astype(np.int32),
        generation=np.zeros(members, np.int64),
    )


def racks_of(racks: Racks | None, rows: Int64) -> Racks | None:
    """Return racks with the partitions in another order."""
    if racks is None:
        return None
    starts, lengths = racks.offsets[rows], np.diff(racks.offsets)[rows]
    offsets = np.r_[0, np.cumsum(lengths)].astype(np.int64)
    within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
    return replace(
        racks,
        offsets=offsets,
        replicas=racks.replicas[np.repeat(starts, lengths) + within],
    )


def _seats(
    instance: Instance,
    places: Places,
    kinds: Kinds,
    levels: Sequence[WeightedObjective],
) -> _Seats:
    """Return the best of three sorts of seats: the owner, others near, others far."""
    first = kinds.first
    owner = instance.owner[first].astype(np.int64)
    topic = instance.partition_topic[first].astype(np.int64)
    owned, mask = owner != NOBODY, places.mask[first]
    near, far = _sorts(instance, places, topic, mask, known=places.known[first])
    alive = [owned.copy(), near.copy(), far.copy()]
    away = places.is_far(first, np.maximum(owner, 0))
    for level in levels:
        move, mismatch = weights_of(level)
        cost = [mismatch * away, move * owned, move * owned + mismatch]
        worst = move + mismatch + 1
        least = np.minimum.reduce(
            [np.where(a, c, worst) for a, c in zip(alive, cost, strict=True)]
        )
        alive = [a & (c == least) for a, c in zip(alive, cost, strict=True)]
    stays = alive[0] & ~alive[1] & ~alive[2]
    narrow = ~stays & alive[1] & far & ~alive[2]
    return _Seats(
        np.where(stays, owner, NOBODY),
        np.where(stays, 0, topic),
        np.where(narrow, mask, _ANYWHERE),
    )


def _sorts(
    instance: Instance, places: Places, topic: Int64, mask: Int64, *, known: Bools
) -> tuple[Bools, Bools]:
    """Tell whether some subscriber is near each kind, and whether some is far."""
    racks = np.zeros(len(instance.topics), np.int64)
    rackless = np.zeros(len(instance.topics), np.bool_)
    for m in range(len(instance.members)):
        wanted = instance.topics_of(m)
        if places.seat[m] == ABSENT:
            rackless[wanted] = True
        else:
            racks[wanted] |= np.int64(1) << places.seat[m]
    near = ~known | rackless[topic] | (racks[topic] & mask > 0)
    return near, known & (racks[topic] & ~mask > 0)


def _classes(
    instance: Instance, places: Places, seats: _Seats
) -> tuple[Int32, Int64, Int32]:
    """Return who may take what: ``member_class``, ``class_offsets``, ``class_topics``.

    Members of one class here are of one class there, in one rack where racks count, and
    alike in owning nothing that must stay.
    """
    own = np.full(len(instance.members), NOBODY, np.int64)
    private = np.flatnonzero(seats.owner != NOBODY)
    own[seats.owner[private]] = private
    seat = places.seat
    if not (seats.mask != _ANYWHERE).any():
        seat = np.full_like(seat, ABSENT)
    member_class, first = dense(instance.member_class, seat, own)
    shared = np.flatnonzero(seats.owner == NOBODY)
    by_topic = shared[np.argsort(seats.topic[shared], kind="stable")]
    bounds = np.searchsorted(
        seats.topic[by_topic], np.arange(len(instance.topics) + 1)
    ).tolist()
    of_topic = [by_topic[start:end] for start, end in pairwise(bounds)]
    listed: list[Int64] = []
    for m in first.tolist():
        mine = [of_topic[t] for t in instance.topics_of(m).tolist()]
        found = np.concatenate([np.zeros(0, np.int64), *mine])
        if seat[m] != ABSENT:
            mask = seats.mask[found]
            found = found[(mask == _ANYWHERE) | ((mask >> seat[m]) & 1 > 0)]
        if own[m] != NOBODY:
            found = np.append(found, own[m])
        listed.append(np.sort(found))
    lengths = [found.size for found in listed]
    topics = np.concatenate([np.zeros(0, np.int64), *listed]).astype(np.int32)
    offsets = np.r_[0, np.cumsum(lengths)].astype(np.int64)
    return member_class.astype(np.int32), offsets, topics
