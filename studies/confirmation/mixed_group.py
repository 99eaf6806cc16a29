"""A group that a real consumer leads, and whose other members are crafted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from conformance.clients import ClientAssignor
from conformance.wire import dialect_of
from studies.confirmation.broker_groups import BrokerGroups
from studies.confirmation.commands import Pace
from studies.confirmation.crafted_member import (
    NOTHING,
    CraftedClaims,
    CraftedMember,
    CraftedSubscription,
)
from studies.confirmation.real_group import RealGroup


class MixedGroup(RealGroup):
    """The first member that starts is real, and leads the group."""

    def __init__(
        self,
        client: ClientAssignor,
        cluster: BrokerGroups,
        name: str,
        topics: Mapping[str, int],
        pace: Pace,
    ) -> None:
        super().__init__(client, cluster, name, topics, pace)
        self.crafted: dict[str, CraftedMember] = {}

    def make_ready(self, *members: str) -> None:
        """Do nothing: a crafted member joins at once."""

    def start(
        self, member: str, topics: Sequence[str], instance_id: str | None = None
    ) -> None:
        """Start a member; it joins at once."""
        if not self.processes:
            super().start(member, topics, instance_id)
            return
        written = CraftedSubscription(
            dialect=dialect_of(self.client), protocol=self.client.assignor
        )
        self.craft(member, topics, NOTHING, written, instance_id)

    def craft(
        self,
        member: str,
        topics: Sequence[str],
        claims: CraftedClaims,
        written: CraftedSubscription,
        instance_id: str | None = None,
    ) -> None:
        """Start a crafted member with claims of its own."""
        self.subscriptions[member] = list(topics)
        connection = self.connection(member, instance_id)
        self.crafted[member] = CraftedMember(connection, written, topics, claims)

    def subscribe(self, member: str, topics: Sequence[str]) -> None:
        """Change a member's subscription."""
        if member in self.crafted:
            self.subscriptions[member] = list(topics)
            self.crafted[member].subscribe(topics)
        else:
            super().subscribe(member, topics)

    def pause(self, *members: str) -> None:
        """Keep members from joining again."""
        for member in members:
            if member in self.crafted:
                self.crafted[member].may_join.clear()
            else:
                super().pause(member)

    def resume(self, *members: str) -> None:
        """Let members join again."""
        for member in members:
            if member in self.crafted:
                self.crafted[member].may_join.set()
            else:
                super().resume(member)

    def close(self) -> None:
        """End all members."""
        super().close()
        for member in self.crafted.values():
            member.end()
