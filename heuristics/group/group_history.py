"""History of a group: its steps, its moves, and a lower bound on moves.

A *move* is a partition whose owner (the process that holds it and may commit) differs
from the one before. A restarted static member stays the same owner; any other restart
makes a new one, as for the coordinator.

The *lower bound*, from one stable state to the next (`least_moves`): partitions whose
owner has left the group must move; and if the assignor balances counts among equal
subscriptions, so must partitions that their owners hold above their quotas (the
counting argument of KIP-615). A history's bound is the sum over its stable states, so a
history that meets it is optimal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from heuristics.group.events import Event
from heuristics.group.messages import Partition

Owners = Mapping[Partition, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """An event, and the group after it.

    ``owners`` lists, for each partition, the identities that hold it and may commit.
    """

    event: Event
    generation: int
    strategy: str | None
    owners: Mapping[Partition, tuple[str, ...]]


@dataclass(slots=True)
class History:
    """All steps so far, and their counts."""

    steps: list[Step] = field(default_factory=list)
    moves: int = 0
    last_owner: dict[Partition, str] = field(default_factory=dict)

    def add(self, step: Step) -> None:
        """Append a step and count its moves."""
        self.steps.append(step)
        for partition, owners in step.owners.items():
            for owner in owners:
                self.moves += self.last_owner.get(partition, owner) != owner
                self.last_owner[partition] = owner


def least_moves(before: Owners, members: Collection[str], *, evens: bool) -> int:
    """Count the partitions that no assignment can leave with their owners.

    Parameters
    ----------
    before : mapping of (topic, number) to identity
        Owners at the stable state before.
    members : collection of str
        Identities in the group at the stable state after; with ``evens``, all subscribe
        to all topics.
    evens : bool
        Whether loads are the floor or the ceiling of the mean at the state after, and
        every partition has an owner at both.
    """
    owned = Counter(owner for owner in before.values() if owner in members)
    stay = sum(owned.values())
    if evens and members:
        quota, n_over = divmod(len(before), len(members))
        over = [m for m in members if owned[m] > quota]
        stay = sum(min(owned[m], quota) for m in members) + min(len(over), n_over)
    return len(before) - stay if members else 0
