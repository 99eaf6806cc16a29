"""Transfers of an assignment: which member gives which partitions to which other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rebalance import NOBODY, Assignment, Instance


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
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


def transfers_of(
    instance: Instance, assignment: Assignment, *, with_new: bool = False
) -> list[Transfer]:
    """Return the transfers from owners, sorted by giver and receiver.

    ``with_new`` adds those of partitions without an owner, first.
    """
    owner, assignee = instance.owner, assignment.assignee
    changed = owner != assignee
    if not with_new:
        changed &= owner != NOBODY
    rows = np.flatnonzero(changed)
    rows = rows[np.lexsort((rows, assignee[rows], owner[rows]))]
    if not rows.size:
        return []
    ends = (owner[rows[1:]] != owner[rows[:-1]]) | (
        assignee[rows[1:]] != assignee[rows[:-1]]
    )
    return [_transfer(instance, assignee, one) for one in np.split(rows, _ends(ends))]


def _ends(ends: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> list[int]:
    found: list[int] = (np.flatnonzero(ends) + 1).tolist()
    return found


def _transfer(
    instance: Instance,
    assignee: np.ndarray[tuple[int, ...], np.dtype[np.int32]],
    rows: np.ndarray[tuple[int, ...], np.dtype[np.intp]],
) -> Transfer:
    giver, receiver = int(instance.owner[rows[0]]), int(assignee[rows[0]])
    topics = instance.partition_topic[rows]
    numbers = rows - instance.topic_offsets[topics]
    partitions: dict[str, list[int]] = {}
    for topic, number in zip(topics.tolist(), numbers.tolist(), strict=True):
        partitions.setdefault(instance.topics[topic], []).append(number)
    lag = None if instance.lag is None else int(instance.lag[rows].sum())
    return Transfer(
        giver=None if giver == NOBODY else instance.members[giver],
        receiver=None if receiver == NOBODY else instance.members[receiver],
        partitions=partitions,
        lag=lag,
    )
