"""A consumer of kafka-python (`orders` documents the protocol).

A leader of this client assigns with the partitions of the topics that it knows. With a
pattern, which is then its only topic, it knows all that match. With names, it asks for
them before it joins: otherwise its first assignment could be empty. It has subscribed
by then: otherwise it would join again when the answer to its subscription arrives.
"""

from __future__ import annotations

from typing import Any

from kafka import ConsumerRebalanceListener, KafkaConsumer
from orders import Orders, end_with

PACKAGE = "kafka.coordinator.assignors"
ASSIGNORS = {
    "range": "range:RangePartitionAssignor",
    "roundrobin": "roundrobin:RoundRobinPartitionAssignor",
    "sticky": "sticky.sticky_assignor:StickyPartitionAssignor",
    "cooperative-sticky": "cooperative_sticky:CooperativeStickyAssignor",
}


class Reporting(ConsumerRebalanceListener):  # type: ignore[misc]  # untyped
    """A listener that reports every callback."""

    def __init__(self, consumer: KafkaConsumer, orders: Orders) -> None:
        self._consumer, self._orders = consumer, orders

    def on_partitions_assigned(self, assigned: Any) -> None:
        """Report an assignment."""
        self.report("assign", assigned)

    def on_partitions_revoked(self, revoked: Any) -> None:
        """Report a revocation."""
        self.report("revoke", revoked)

    def on_partitions_lost(self, lost: Any) -> None:
        """Report a loss."""
        self.report("lost", lost)

    def report(self, event: str, partitions: Any = ()) -> None:
        """Report an event; releases before 3 have no public name for the generation."""
        now = self._consumer._coordinator._generation
        self._orders.report(
            event, partitions, member_id=now.member_id, generation=now.generation_id
        )


def main() -> None:
    """Poll until the consumer is to leave."""
    orders = Orders()
    topics = orders.first_topics()
    if topics is None:
        return
    consumer = KafkaConsumer(
        **orders.keywords(),
        partition_assignment_strategy=orders.assignors(PACKAGE, ASSIGNORS),
    )
    reporting = Reporting(consumer, orders)
    listener = reporting if orders.reports else None
    _subscribe(consumer, topics, listener)
    for topic in topics:
        if not topic.startswith("^"):
            consumer.partitions_for_topic(topic)
    while not orders.leaving.is_set():
        consumer.poll(timeout_ms=orders.poll_ms)
        topics = orders.next_topics()
        if topics is not None:
            _subscribe(consumer, topics, listener)
            reporting.report("subscribed")
    consumer.close()


def _subscribe(
    consumer: KafkaConsumer, topics: list[str], listener: Reporting | None
) -> None:
    if topics[0].startswith("^"):
        consumer.subscribe(pattern=topics[0], listener=listener)
    else:
        consumer.subscribe(topics, listener=listener)


if __name__ == "__main__":
    end_with(main)
