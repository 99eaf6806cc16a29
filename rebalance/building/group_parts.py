"""The parts of a group that every source has, and the instance that they make."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rebalance.columns import instance_of
from rebalance.errors import InstanceError
from rebalance.instance import Instance
from rebalance.parsing import rebalance_of

Subscriptions = Mapping[str, Iterable[str]] | Iterable[str]
"""Topics by member, or the topics to which all members subscribe."""


def instance_from_dict(document: Mapping[str, Any]) -> Instance:
    """Build an instance from a ``rebalance/1`` document as Python values.

    ``format`` can be left out.

    Raises
    ------
    DocumentError
        With the JSON path of the offending value.
    """
    return instance_of(rebalance_of({"format": "rebalance/1", **document}))


@dataclass(slots=True, kw_only=True)
class GroupParts:
    """Topics, members, and claims of a group, to be collected in any order."""

    group: str
    sizes: Mapping[str, int]
    members: dict[str, dict[str, Any]] = field(default_factory=dict)
    lag: Mapping[tuple[str, int], int] | None = None

    def add_claim(self, member: str, topic: str, number: int) -> None:
        """Add a partition that a member owns.

        Raises
        ------
        InstanceError
            If there is no such member, topic, or partition.
        """
        if member not in self.members:
            raise InstanceError("owner is not a member", subject=member)
        if not 0 <= number < self.sizes.get(topic, 0):
            raise InstanceError("unknown partition", subject=(topic, number))
        owned = self.members[member].setdefault("owned", {})
        owned.setdefault(topic, []).append(number)

    def subscribe(self, subscriptions: Subscriptions) -> None:
        """Set the subscription of each member.

        Raises
        ------
        InstanceError
            If ``subscriptions`` omits a member.
        """
        if isinstance(subscriptions, str):
            raise InstanceError("topics are a list of names", subject=subscriptions)
        if not isinstance(subscriptions, Mapping):
            topics = [*subscriptions]
            subscriptions = dict.fromkeys(self.members, topics)
        for member_id, member in self.members.items():
            if member_id not in subscriptions:
                raise InstanceError("no subscription is given", subject=member_id)
            member["subscription"] = sorted(set(subscriptions[member_id]))

    def instance(self) -> Instance:
        """Return the instance.

        Raises
        ------
        InstanceError
            If ``lag`` omits a partition, or is about one that does not exist.
        DocumentError
            If a value is out of range.
        """
        topics: dict[str, dict[str, Any]] = {
            name: {"partitions": size} for name, size in self.sizes.items()
        }
        if self.lag is not None:
            rest = dict(self.lag)
            for name, size in self.sizes.items():
                topics[name]["lag"] = [_taken(rest, name, n) for n in range(size)]
            for topic, number in rest:
                raise InstanceError(
                    "lag of an unknown partition", subject=(topic, number)
                )
        document = {"group": self.group, "topics": topics, "members": self.members}
        return instance_from_dict(document)


def _taken(lag: dict[tuple[str, int], int], topic: str, number: int) -> int:
    if (topic, number) not in lag:
        raise InstanceError("no lag is given", subject=(topic, number))
    return lag.pop((topic, number))
