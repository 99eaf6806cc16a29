"""A group under churn: members start, leave, are killed, and subscribe anew."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from conformance.consumer_programs import Property
from rebalance import OutsideError
from studies.recording.broker_log import add_partitions
from studies.recording.event_log import Events
from studies.recording.recorded_consumer import ConsumerDescription, RecordedConsumer

SETTLE_SECONDS: Final = 120.0
CHECK_SECONDS: Final = 1.0  # how often to look for a member that has ended
SESSION_MS: Final = 6_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingPlace:
    """The broker of a recording, its topics, and the events so far."""

    address: str
    topics: dict[str, int]
    events: Events


@dataclass(slots=True, kw_only=True)
class RecordedGroup:
    """One group; every act waits until its partitions have found their members.

    ``session_ms`` and ``settings``, properties of the client, are those of its members.
    """

    place: RecordingPlace
    name: str
    session_ms: int = SESSION_MS
    settings: Mapping[str, Property] = field(default_factory=dict)
    members: list[RecordedConsumer] = field(default_factory=list)
    _started: int = 0

    def start(
        self,
        library: str,
        *assignors: str,
        topics: Sequence[str] = (),
        instance: str | None = None,
        protocol: str = "classic",
        client_id: str | None = None,
        waits: bool = True,
    ) -> RecordedConsumer:
        """Start a member; ``topics`` are all by default, the client id is a new one."""
        consumer = ConsumerDescription(
            library=library,
            address=self.place.address,
            group=self.name,
            client_id=client_id or f"{self.name}-{self._started}",
            topics=list(topics) or sorted(self.place.topics),
            assignors=list(assignors),
            instance=instance,
            protocol=protocol,
            session_ms=self.session_ms,
            settings=self.settings,
        )
        self._started += 1
        member = RecordedConsumer(consumer, self.place.events)
        self.members.append(member)
        if waits:
            self.settle(member)
        return member

    def start_again(
        self, ended: RecordedConsumer, *assignors: str, waits: bool = True
    ) -> RecordedConsumer:
        """Start a member that has ended, with its client id; new assignors, if any."""
        consumer = ended.consumer
        return self.start(
            consumer.library,
            *(assignors or consumer.assignors),
            topics=ended.topics,
            instance=consumer.instance,
            protocol=consumer.protocol,
            client_id=consumer.client_id,
            waits=waits,
        )

    def leave(self, member: RecordedConsumer, *, waits: bool = True) -> None:
        """Let a member leave."""
        self.members.remove(member)
        member.leave()
        if waits:
            self.settle()

    def kill(self, member: RecordedConsumer, *, waits: bool = True) -> None:
        """Kill a member; the broker notices when its session times out."""
        self.members.remove(member)
        member.die()
        if waits:
            self.settle()

    def subscribe(
        self, member: RecordedConsumer, *topics: str, waits: bool = True
    ) -> None:
        """Change a member's subscription.

        A member of the new protocol is called back only if it has to revoke something
        or receives something.
        """
        before = member.assigned
        is_called = member.consumer.is_classic or any(
            topic not in topics for topic, _ in member.held
        )
        member.subscribe(topics)
        if waits:
            self.settle(member if is_called else None, before)

    def pause(self, member: RecordedConsumer, seconds: float) -> None:
        """Let a member not poll for a time in which it is evicted."""
        before = member.assigned
        member.pause()
        time.sleep(seconds)
        member.resume()
        self.settle(member, before)

    def grow(self, topic: str, partitions: int) -> None:
        """Add partitions to a topic; the sum is given."""
        place = self.place
        place.events.driver(self.name, "", "grow", topic=topic, partitions=partitions)
        add_partitions(place.address, topic, partitions)
        place.topics[topic] = partitions
        self.settle()

    def settle(self, member: RecordedConsumer | None = None, before: int = 0) -> None:
        """Wait until each partition has one member, and each member has some.

        ``member`` must also have been called back for an assignment since ``before``.

        Raises
        ------
        OutsideError
            If that takes too long, or a member has ended.
        """

        def settled() -> bool:
            return self._is_whole() and (member is None or member.assigned > before)

        deadline = time.monotonic() + SETTLE_SECONDS
        while not self.place.events.wait_for(settled, CHECK_SECONDS):
            ended = [member for member in self.members if member.has_ended()]
            if ended:
                raise OutsideError(f"{ended[0].name} has ended: {ended[0].end()}")
            if time.monotonic() > deadline:
                held = {member.name: sorted(member.held) for member in self.members}
                raise OutsideError(f"{self.name} does not settle: {held}")

    def close(self) -> None:
        """Let all leave, one after the other."""
        while self.members:
            self.leave(self.members[0], waits=False)

    def stop(self) -> None:
        """End the consumers that still run."""
        for member in self.members:
            member.end_at_once()

    def _is_whole(self) -> bool:
        topics = {topic for member in self.members for topic in member.topics}
        wanted = [(t, n) for t in topics for n in range(self.place.topics[t])]
        held = [tp for member in self.members for tp in member.held]
        whole = sorted(held) == sorted(wanted)
        subscribed = all(
            {topic for topic, _ in member.held} <= set(member.topics)
            for member in self.members
        )
        return subscribed and all(member.held for member in self.members) and whole
