"""A kafka-python consumer as a process (`studies.recording.clients`)."""

from __future__ import annotations

from typing import Any

from kafka import ConsumerRebalanceListener, KafkaConsumer
from kafka.coordinator.assignors.cooperative_sticky import (
    CooperativeStickyAssignor,
)
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

from studies.recording.clients.reporting import (
    COMMIT_MS,
    HEARTBEAT_MS,
    Commands,
    ConsumerSettings,
    report,
)

POLL_MS = 500
"""A join that many shorter polls interrupt can stay without its answer (3.0.12)."""

ASSIGNORS = {
    "range": RangePartitionAssignor,
    "roundrobin": RoundRobinPartitionAssignor,
    "sticky": StickyPartitionAssignor,
    "cooperative-sticky": CooperativeStickyAssignor,
}


class Reporting(ConsumerRebalanceListener):  # type: ignore[misc]  # untyped
    """A listener that reports every callback."""

    def __init__(self, consumer: KafkaConsumer) -> None:
        self._consumer = consumer

    def on_partitions_assigned(self, assigned: Any) -> None:
        """Report an assignment."""
        self._report("assign", assigned)

    def on_partitions_revoked(self, revoked: Any) -> None:
        """Report a revocation."""
        self._report("revoke", revoked)

    def on_partitions_lost(self, lost: Any) -> None:
        """Report a loss."""
        self._report("lost", lost)

    def _report(self, event: str, partitions: Any) -> None:
        group = self._consumer.group_metadata()
        report(
            event, partitions, member=group.member_id, generation=group.generation_id
        )


def main() -> None:
    """Consume until the input ends."""
    settings, commands = ConsumerSettings.from_arguments(), Commands()
    consumer = KafkaConsumer(
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
    for topic in settings.topics:  # a leader without metadata would assign nothing
        consumer.partitions_for_topic(topic)
    listener = Reporting(consumer)
    consumer.subscribe(settings.topics, listener=listener)
    try:
        while not commands.leaving.is_set():
            consumer.poll(timeout_ms=POLL_MS)
            if (topics := commands.new_topics()) is not None:
                consumer.subscribe(topics, listener=listener)
                report("subscribed")
    finally:
        consumer.close()


if __name__ == "__main__":
    main()
