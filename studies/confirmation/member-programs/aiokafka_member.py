"""A member of a real group: aiokafka, which joins in a task of its own.

It cannot be paused: a member joins again with its next heartbeat. Heartbeats are so far
apart that all members have their new subscriptions by then.
"""

from __future__ import annotations

import asyncio
import sys
import traceback
from importlib import import_module
from typing import Any

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener
from orders import Orders, by_topic

HEARTBEAT_MS = 3_000


class AsyncReporting(ConsumerRebalanceListener):  # type: ignore[misc]  # untyped
    """A listener that reports every assignment."""

    def __init__(self, consumer: AIOKafkaConsumer, orders: Orders) -> None:
        self._consumer, self._orders = consumer, orders

    async def on_partitions_assigned(self, assigned: Any) -> None:
        """Report an assignment."""
        generation = self._consumer._coordinator.generation
        held = by_topic(assigned)
        self._orders.report("assign", generation=generation, partitions=held)

    async def on_partitions_revoked(self, revoked: Any) -> None:
        """Ignore what is given up."""


async def main() -> None:
    """Poll until the process is ended."""
    orders = Orders()
    topics = orders.topics.get()
    module = import_module("aiokafka.coordinator.assignors.sticky.sticky_assignor")
    consumer = AIOKafkaConsumer(
        bootstrap_servers=orders.settings["address"],
        group_id=orders.settings["group"],
        client_id=orders.member,
        partition_assignment_strategy=[module.StickyPartitionAssignor],
        enable_auto_commit=False,
        heartbeat_interval_ms=HEARTBEAT_MS,
        session_timeout_ms=orders.settings["session_ms"],
        rebalance_timeout_ms=orders.settings["join_ms"],
        max_poll_interval_ms=orders.settings["join_ms"],
        request_timeout_ms=orders.settings["join_ms"] + 10_000,
    )
    listener = AsyncReporting(consumer, orders)
    consumer.subscribe(topics, listener=listener)
    await consumer.start()
    while True:
        await consumer.getmany(timeout_ms=100)
        if not orders.topics.empty():
            consumer.subscribe(orders.topics.get(), listener=listener)


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except Exception:  # noqa: BLE001  # whatever the client raises
        traceback.print_exc()
        sys.exit(70)
