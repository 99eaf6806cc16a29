"""Transfers of an assignment: which member gives which partitions to which other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rebalance import NOBODY, Assignment, Instance, Int32

Rows = np.ndarray[tuple[int, ...], np.dtype[np.intp]]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberTransfer:
    """Partitions that go from one member to another.

    Attributes
    ----------
    giver : str or None
        None: the partitions have no owner.
    receiver : str or None
        None: the partitions are assigned to no member.
    partitions : dict
        Topic to partition numbers, ascending.
    lag : int or None
        Their lag, records; None if the instance states none.
    """

    giver: str | None
    receiver: str | None
    partitions: dict[str, list[int]]
    lag: int | None

    @property
    def count(self) -> int:
        """Number of partitions."""
        return sum(map(len, self.partitions.values()))


def transfers_of(instance: Instance, assignment: Assignment) -> list[MemberTransfer]:
    """Return the transfers from owners, sorted by giver and receiver."""
    owner = instance.owner
    rows = np.flatnonzero((owner != assignment.assignee) & (owner != NOBODY))
    return grouped_transfers(instance, assignment, owner, instance.members, rows)


def grouped_transfers(
    instance: Instance,
    assignment: Assignment,
    owner: Int32,
    names: Sequence[str],
    rows: Rows,
) -> list[MemberTransfer]:
    """Return the transfers of some partitions, by giver and receiver; no owner first.

    Parameters
    ----------
    owner : int32 (P,)
        Place in ``names`` of the giver of each partition; -1: none.
    names : sequence of str
        Givers, who need not be members of the instance.
    rows : intp
        Partitions that change their holder.
    """
    assignee = assignment.assignee
    rows = rows[np.lexsort((rows, assignee[rows], owner[rows]))]
    pairs = np.stack([owner[rows], assignee[rows]])
    ends = np.flatnonzero((pairs[:, 1:] != pairs[:, :-1]).any(axis=0)) + 1
    return [
        _transfer(instance, assignee, owner, names, part)
        for part in np.split(rows, ends.tolist())
        if part.size
    ]


def _transfer(
    instance: Instance, assignee: Int32, owner: Int32, names: Sequence[str], rows: Rows
) -> MemberTransfer:
    giver, receiver = int(owner[rows[0]]), int(assignee[rows[0]])
    topics = instance.partition_topic[rows]
    numbers = rows - instance.topic_offsets[topics]
    partitions: dict[str, list[int]] = {}
    for topic, number in zip(topics.tolist(), numbers.tolist(), strict=True):
        partitions.setdefault(instance.topics[topic], []).append(number)
    return MemberTransfer(
        giver=None if giver == NOBODY else names[giver],
        receiver=None if receiver == NOBODY else instance.members[receiver],
        partitions=partitions,
        lag=None if instance.lag is None else int(instance.lag[rows].sum()),
    )
