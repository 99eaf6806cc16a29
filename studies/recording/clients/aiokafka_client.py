"""An aiokafka consumer as a process (`studies.recording.clients`)."""

from __future__ import annotations

import asyncio
from typing import Any

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from aiokafka.coordinator.assignors.sticky.sticky_assignor import (
    StickyPartitionAssignor,
)

from studies.recording.clients.reporting import (
    COMMIT_MS,
    HEARTBEAT_MS,
    POLL_SECONDS,
    Commands,
    ConsumerSettings,
    report,
)

ASSIGNORS = {
    "range": RangePartitionAssignor,
    "roundrobin": RoundRobinPartitionAssignor,
    "sticky": StickyPartitionAssignor,
}


class Reporting(ConsumerRebalanceListener):  # type: ignore[misc]  # untyped
    """A listener that reports every callback; aiokafka has none for lost partitions."""

    def __init__(self, consumer: AIOKafkaConsumer) -> None:
        self._consumer = consumer

    async def on_partitions_assigned(self, assigned: Any) -> None:
        """Report an assignment."""
        self._report("assign", assigned)

    async def on_partitions_revoked(self, revoked: Any) -> None:
        """Report a revocation."""
        self._report("revoke", revoked)

    def _report(self, event: str, partitions: Any) -> None:
        # Its public names return neither the generation nor the member id.
        group = self._consumer._coordinator
        report(event, partitions, member=group.member_id, generation=group.generation)


async def main() -> None:
    """Consume until the input ends."""
    settings, commands = ConsumerSettings.from_arguments(), Commands()
    consumer = AIOKafkaConsumer(
        bootstrap_servers=settings.bootstrap,
        group_id=settings.group,
        client_id=settings.client,
        group_instance_id=settings.instance,
        partition_assignment_strategy=[ASSIGNORS[name] for name in settings.assignors],
        auto_offset_reset="earliest",
        auto_commit_interval_ms=COMMIT_MS,
        heartbeat_interval_ms=HEARTBEAT_MS,
        session_timeout_ms=settings.session_ms,
    )
    listener = Reporting(consumer)
    consumer.subscribe(settings.topics, listener=listener)
    await consumer.start()
    try:
        while not commands.leaving.is_set():
            await consumer.getmany(timeout_ms=int(POLL_SECONDS * 1000))
            if (topics := commands.new_topics()) is not None:
                consumer.subscribe(topics, listener=listener)
                report("subscribed")
    finally:
        await consumer.stop()


if __name__ == "__main__":
    asyncio.run(main())
