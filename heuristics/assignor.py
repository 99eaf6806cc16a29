"""The interface of a heuristic, and how it refuses an instance."""

from __future__ import annotations

from typing import Protocol

from rebalance import Assignment, Instance, InstanceError


class Assignor(Protocol):
    """An assignment algorithm; published ones are unchanged, including ties.

    Deterministic. Each partition of a subscribed topic is assigned to one subscriber,
    each other partition to no member. An instance without members, partitions, or
    subscriptions is valid.
    """

    @property
    def name(self) -> str:
        """Name on the command line and in tables."""
        ...

    def refuses(self, instance: Instance) -> str | None:
        """Return why the algorithm does not apply to the instance, else None."""
        ...

    def assign(self, instance: Instance) -> Assignment:
        """Compute the assignment.

        Raises
        ------
        InstanceError
            If the algorithm `refuses` the instance.
        """
        ...


def ensure_applies(assignor: Assignor, instance: Instance) -> None:
    """Raise an error if the assignor refuses the instance.

    Raises
    ------
    InstanceError
        With the assignor's reason; the subject is the group.
    """
    reason = assignor.refuses(instance)
    if reason is not None:
        raise InstanceError(f"{assignor.name}: {reason}", subject=instance.group)
