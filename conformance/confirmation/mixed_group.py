"""A group that a real consumer leads, and whose other members are crafted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from conformance.clients import ClientAssignor
from conformance.confirmation.commands import Pace
from conformance.confirmation.crafted_member import CraftedMember
from conformance.confirmation.group_state import Cluster
from conformance.confirmation.real_group import RealGroup


class MixedGroup(RealGroup):
    """The first member that starts is real, and leads the group."""

    def __init__(
        self,
        client: ClientAssignor,
        cluster: Cluster,
        name: str,
        topics: Mapping[str, int],
        pace: Pace,
    ) -> None:
        super().__init__(client, cluster, name, topics, pace)
        self._assignor, self._pace = client.assignor, pace
        self.crafted: dict[str, CraftedMember] = {}

    def make_ready(self, *members: str) -> None:
        """Do nothing: a crafted member joins at once."""

    def start(self, member: str, topics: Sequence[str]) -> None:
        """Start a member; it joins at once."""
        if not self.processes:
            super().start(member, topics)
            return
        self.subscriptions[member] = list(topics)
        self.crafted[member] = CraftedMember(
            self.cluster.address,
            self.name,
            member,
            self._assignor,
            topics,
            session_ms=self._pace.session,
            join_ms=self._pace.join,
        )

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
        for one in self.crafted.values():
            one.end()
