"""A group of real, unmodified consumers of one client on a real broker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Final, Protocol

from conformance.clients import ClientAssignor
from conformance.consumer_programs import ConsumerProcess
from rebalance import OutsideError
from studies.confirmation.broker_groups import BrokerGroups, ReportedGroup
from studies.confirmation.commands import Pace, member_command, ordered_topics
from studies.confirmation.group_connection import GroupConnection

SETTLE_SECONDS: Final = 60.0
FRAMES_SECONDS: Final = 3.0


class Helper(Protocol):
    """Parties of a group that are not members under test."""

    def end(self) -> None:
        """Close its connection."""


class RealGroup:
    """Members by name, which is the client id, and so begins the member id."""

    def __init__(
        self,
        client: ClientAssignor,
        cluster: BrokerGroups,
        name: str,
        topics: Mapping[str, int],
        pace: Pace,
    ) -> None:
        cluster.create_topics(topics)
        self.cluster, self.name = cluster, name
        self.client, self.pace = client, pace
        self._sizes = topics
        self._command = member_command(client, cluster.address, name, pace)
        self.processes: dict[str, ConsumerProcess] = {}
        self._ready: dict[str, ConsumerProcess] = {}
        self.subscriptions: dict[str, list[str]] = {}
        self.helpers: list[Helper] = []
        # librdkafka's AdminClient can wait for ever for a group without a coordinator.
        with closing(self.connection("ready")) as connection:
            connection.wait_until_ready()

    def make_ready(self, *members: str) -> None:
        """Start processes for members that are to join later, and then at once."""
        if not self._command.has_all:
            for member in members:
                self._ready[member] = ConsumerProcess(self._command.argv)

    def start(
        self, member: str, topics: Sequence[str], instance_id: str | None = None
    ) -> None:
        """Start a member; it joins at once.

        A static member (KIP-345) has an instance id, with librdkafka.
        """
        if self._command.has_all and self.processes:
            process = next(iter(self.processes.values()))
        elif member in self._ready:
            process = self._ready.pop(member)
        else:
            process = ConsumerProcess(self._command.argv)
        self.processes[member] = process
        self.subscriptions[member] = list(topics)
        requested = ordered_topics(self.client, topics)
        static = {} if instance_id is None else {"instance": instance_id}
        process.order("start", member, topics=requested, **static)

    def subscribe(self, member: str, topics: Sequence[str]) -> None:
        """Change a member's subscription."""
        self.subscriptions[member] = list(topics)
        requested = ordered_topics(self.client, topics)
        self.processes[member].order("subscribe", member, topics=requested)

    def pause(self, *members: str) -> None:
        """Keep members from joining again."""
        for member in members:
            self.processes[member].order("pause", member)

    def resume(self, *members: str) -> None:
        """Let members join again."""
        for member in members:
            self.processes[member].order("resume", member)

    def connection(
        self, member: str, instance_id: str | None = None
    ) -> GroupConnection:
        """Connect a helper, or a crafted member.

        Raises
        ------
        OSError
            If there is no connection.
        """
        return GroupConnection(
            self.cluster.address,
            self.name,
            member,
            self.client.assignor,
            session_ms=self.pace.session,
            join_ms=self.pace.join,
            instance_id=instance_id,
        )

    def settle(self) -> ReportedGroup:
        """Wait until each subscribed partition has a member.

        Raises
        ------
        OutsideError
            If that takes too long.
        """
        return self.cluster.wait_for(self.name, self._is_settled, SETTLE_SECONDS)

    def wait_for_members(self) -> None:
        """Wait until the broker knows all members that were started."""

        def joined(state: ReportedGroup) -> bool:
            return set(state.held) == set(self.subscriptions)

        self.cluster.wait_for(self.name, joined, SETTLE_SECONDS)

    def wait_for_event(self, member: str, event: str) -> None:
        """Wait until a member reports an event.

        Raises
        ------
        OutsideError
            If that takes too long.
        """
        process = self.processes[member]

        def is_reported() -> bool:
            wanted = (event, member)
            return any((e["event"], e["member"]) == wanted for e in process.events)

        if not process.wait_for(is_reported, SETTLE_SECONDS):
            raise OutsideError(f"{member} reports no {event}")

    def _is_settled(self, state: ReportedGroup) -> bool:
        topics = {topic for names in self.subscriptions.values() for topic in names}
        wanted = [(t, n) for t in sorted(topics) for n in range(self._sizes[t])]
        held = [
            (topic, number)
            for topics_of in state.held.values()
            for topic, numbers in topics_of.items()
            for number in numbers
        ]
        return (
            state.state == "STABLE"
            and set(state.held) == set(self.subscriptions)
            and sorted(held) == wanted
        )

    def ended(self) -> list[ConsumerProcess]:
        """Return the processes that have ended."""
        return [process for process in self._distinct() if process.has_ended()]

    def cpu_seconds(self) -> dict[str, float]:
        """Return the CPU time of each member's process."""
        return {name: process.cpu_seconds() for name, process in self.processes.items()}

    def frames(self) -> dict[str, list[str]]:
        """Return the stack of each member's thread, innermost frame first."""
        return {
            name: process.frames(name, FRAMES_SECONDS)
            for name, process in self.processes.items()
        }

    def close(self) -> None:
        """End all processes and helpers."""
        for helper in self.helpers:
            helper.end()
        for process in (*self._distinct(), *self._ready.values()):
            process.end()

    def _distinct(self) -> list[ConsumerProcess]:
        return list(
            {id(process): process for process in self.processes.values()}.values()
        )
