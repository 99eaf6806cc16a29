"""The interface of a heuristic, and how it refuses an instance."""

from __future__ import annotations

from typing import Protocol

from rebalance import Assignment, Instance, InstanceError


class Assignor(Protocol):
    """An assignment algorithm; a published one as published, ties included.

    Deterministic. Every partition of a subscribed topic goes to one subscriber, every
    other partition to nobody; an instance without members, partitions or
    subscriptions is as good as any.
    """

    @property
    def name(self) -> str:
        """Name on the command line and in tables."""
        ...

    def refuses(self, instance: Instance) -> str | None:
        """Say why the algorithm does not apply to the instance; None: it does."""
        ...

    def assign(self, instance: Instance) -> Assignment:
        """Assign.

        Raises
        ------
        InstanceError
            If the algorithm `refuses` the instance.
        """
        ...


def ensure_applies(assignor: Assignor, instance: Instance) -> None:
    """Stop at an instance that the assignor refuses.

    Raises
    ------
    InstanceError
        With the assignor's reason; the subject is the group.
    """
    reason = assignor.refuses(instance)
    if reason is not None:
        raise InstanceError(f"{assignor.name}: {reason}", subject=instance.group)
