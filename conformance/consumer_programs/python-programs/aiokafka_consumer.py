"""A consumer of aiokafka (`orders` documents the protocol).

It joins in a task of its own, and so cannot be paused: a member joins again with its
next heartbeat. It has no callback for lost partitions, and takes no patterns.
"""

from __future__ import annotations

import asyncio
from typing import Any

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener
from orders import Orders, end_with

PACKAGE = "aiokafka.coordinator.assignors"
ASSIGNORS = {
    "range": "range:RangePartitionAssignor",
    "roundrobin": "roundrobin:RoundRobinPartitionAssignor",
    "sticky": "sticky.sticky_assignor:StickyPartitionAssignor",
}


class AsyncReporting(ConsumerRebalanceListener):  # type: ignore[misc]  # untyped
    """A listener that reports every callback."""

    def __init__(self, consumer: AIOKafkaConsumer, orders: Orders) -> None:
        self._consumer, self._orders = consumer, orders

    async def on_partitions_assigned(self, assigned: Any) -> None:
        """Report an assignment."""
        self.report("assign", assigned)

    async def on_partitions_revoked(self, revoked: Any) -> None:
        """Report a revocation."""
        self.report("revoke", revoked)

    def report(self, event: str, partitions: Any = ()) -> None:
        """Report an event; no public name has the generation or the member id."""
        now = self._consumer._coordinator
        self._orders.report(
            event, partitions, member_id=now.member_id, generation=now.generation
        )


async def run() -> None:
    """Poll until the consumer is to leave."""
    orders = Orders()
    topics = orders.first_topics()
    if topics is None:
        return
    assignors = orders.assignors(PACKAGE, ASSIGNORS)
    consumer = AIOKafkaConsumer(
        **orders.keywords(), partition_assignment_strategy=assignors
    )
    for assignor in assignors:
        if hasattr(assignor, "follow"):  # one of `oracle.plugins`
            assignor.follow(consumer)
    reporting = AsyncReporting(consumer, orders)
    listener = reporting if orders.reports else None
    consumer.subscribe(topics, listener=listener)
    await consumer.start()
    while not orders.leaving.is_set():
        await consumer.getmany(timeout_ms=orders.poll_ms)
        if not orders.topics.empty() and not orders.leaving.is_set():
            consumer.subscribe(orders.topics.get(), listener=listener)
            reporting.report("subscribed")
    await consumer.stop()


def main() -> None:
    """Poll until the consumer is to leave."""
    asyncio.run(run())


if __name__ == "__main__":
    end_with(main)
