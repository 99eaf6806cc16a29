"""From the present owners to an assignment: rounds, and partitions without an owner.

Assumptions (docs/plan.md): all members join each round, a round takes the same time,
members leave by leaving the group, and an assignor repeats its answer in the next round
unless its rounds are known. A member revokes partitions of topics that it left before
it joins (KIP-429).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from heuristics import CooperativeStickyAssignor, withheld_of
from oracle.member_transfers import grouped_transfers
from oracle.planning.plan_records import PlannedTransfer, Transition
from rebalance import NOBODY, Assignment, Instance, Int32

EAGER: Final = frozenset({"range", "round-robin", "sticky"})
"""Assignors of Kafka whose members revoke all partitions before they join."""
CONSUMER: Final = frozenset({"server-range", "uniform"})
"""Assignors of the broker in the protocol of KIP-848."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnersBefore:
    """Owners before the change, by the partitions after it.

    Attributes
    ----------
    names : tuple of str
        Members before the change.
    owner : int32 (P,)
        Place in ``names`` of each partition's owner; -1: none, or a new partition.
    """

    names: tuple[str, ...]
    owner: Int32

    @classmethod
    def of(cls, before: Instance, after: Instance) -> OwnersBefore:
        """Return the owners before, by the partitions after."""
        owner = np.full(after.n_partitions, NOBODY, dtype=np.int32)
        first = dict(zip(before.topics, before.topic_offsets.tolist(), strict=False))
        sizes = dict(zip(before.topics, before.topic_sizes.tolist(), strict=True))
        starts = after.topic_offsets.tolist()
        for topic, start in zip(after.topics, starts, strict=False):
            if topic in sizes:
                begin, size = first[topic], sizes[topic]
                owner[start : start + size] = before.owner[begin : begin + size]
        owner.setflags(write=False)
        return cls(names=before.members, owner=owner)


def transition(
    assignor: str,
    after: Instance,
    assignment: Assignment,
    owners: OwnersBefore,
    round_ms: int,
) -> Transition:
    """Count rounds, and how long partitions with an owner before have none."""
    owned = owners.owner != NOBODY
    if assignor in EAGER:
        return _transition("eager", 1, int(owned.sum()), int(owned.sum()) * round_ms)
    place = {name: at for at, name in enumerate(owners.names)}
    now = np.array([place.get(name, NOBODY) for name in after.members], np.int32)
    assigned = assignment.assignee != NOBODY
    holder = np.full(after.n_partitions, NOBODY, dtype=np.int32)
    holder[assigned] = now[assignment.assignee[assigned]]
    changed = int((owned & (holder != owners.owner)).sum())
    if assignor in CONSUMER:
        return _transition("consumer", None, changed, changed * round_ms)
    if assignor == CooperativeStickyAssignor.name:
        return _cooperative_sticky(after, owners, round_ms)
    rounds = 2 if withheld_of(after, assignment).any() else 1
    return _transition("cooperative", rounds, changed, changed * round_ms)


def _cooperative_sticky(
    after: Instance, owners: OwnersBefore, round_ms: int
) -> Transition:
    """Play the rounds of the assignor, which can be more than two.

    In each round, withheld partitions have no owner until the next. A partition whose
    owner left, or left the topic, has no owner in the first.
    """
    rounds = list(CooperativeStickyAssignor().rounds(after))
    withheld = [round_.withheld for round_ in rounds]
    released = (owners.owner != NOBODY) & (after.owner == NOBODY)
    without = np.logical_or.reduce([released, *withheld])
    total = int(released.sum()) + sum(int(mask.sum()) for mask in withheld)
    return _transition("cooperative", len(rounds), int(without.sum()), total * round_ms)


def planned_transfers(
    before: OwnersBefore, after: Instance, assignment: Assignment
) -> list[PlannedTransfer]:
    """Return the transfers, by giver and receiver; new partitions first."""
    place = {name: at for at, name in enumerate(before.names)}
    now = np.array([place.get(name, -2 - m) for m, name in enumerate(after.members)])
    taken = assignment.assignee
    holder = np.full(after.n_partitions, NOBODY, dtype=np.int64)
    holder[taken != NOBODY] = now[taken[taken != NOBODY]]
    rows = np.flatnonzero(holder != before.owner)
    there = set(after.members)
    return [
        PlannedTransfer.known(
            giver=transfer.giver,
            leaves=True
            if transfer.giver is not None and transfer.giver not in there
            else None,
            to=transfer.receiver,
            partitions=transfer.partitions,
            lag=transfer.lag,
        )
        for transfer in grouped_transfers(
            after, assignment, before.owner, before.names, rows
        )
    ]


def _transition(mode: str, rounds: int | None, unowned: int, ms: int) -> Transition:
    return Transition.known(
        mode=mode, rounds=rounds, unowned_partitions=unowned, unowned_partition_ms=ms
    )
