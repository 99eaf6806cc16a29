"""A member of a real group: kafka-python, which polls unless it is paused.

It subscribes by a pattern that matches its topics. A leader of this client assigns with
the metadata that it has, and only with a pattern does it have that of all topics.
"""

from __future__ import annotations

import sys
import traceback
from importlib import import_module
from typing import Any

from kafka import ConsumerRebalanceListener, KafkaConsumer
from orders import Orders, by_topic

ASSIGNORS = {
    "sticky": "sticky.sticky_assignor.StickyPartitionAssignor",
    "cooperative-sticky": "cooperative_sticky.CooperativeStickyAssignor",
}


class Reporting(ConsumerRebalanceListener):  # type: ignore[misc]  # untyped
    """A listener that reports every assignment."""

    def __init__(self, consumer: KafkaConsumer, orders: Orders) -> None:
        self._consumer, self._orders = consumer, orders

    def on_partitions_assigned(self, assigned: Any) -> None:
        """Report an assignment."""
        generation = self._consumer._coordinator._generation.generation_id
        held = by_topic(assigned)
        self._orders.report("assign", generation=generation, partitions=held)

    def on_partitions_revoked(self, revoked: Any) -> None:
        """Ignore what is given up."""

    def on_partitions_lost(self, lost: Any) -> None:
        """Ignore what is lost."""


def main() -> None:
    """Poll until the process is ended."""
    orders = Orders()
    topics: list[str] | None = orders.topics.get()
    module, _, kind = ASSIGNORS[orders.settings["assignor"]].rpartition(".")
    assignor = getattr(import_module(f"kafka.coordinator.assignors.{module}"), kind)
    consumer = KafkaConsumer(
        bootstrap_servers=orders.settings["address"],
        group_id=orders.settings["group"],
        client_id=orders.member,
        partition_assignment_strategy=[assignor],
        enable_auto_commit=False,
        heartbeat_interval_ms=orders.settings["heartbeat_ms"],
        session_timeout_ms=orders.settings["session_ms"],
        max_poll_interval_ms=orders.settings["join_ms"],
        request_timeout_ms=orders.settings["join_ms"] + 10_000,
        connections_max_idle_ms=10 * orders.settings["join_ms"] + 10_000,
    )
    listener = Reporting(consumer, orders)
    while True:
        if topics is not None:
            pattern = f"^({'|'.join(topics)})$"
            consumer.subscribe(pattern=pattern, listener=listener)
        consumer.poll(timeout_ms=500)
        orders.may_run.wait()
        topics = None if orders.topics.empty() else orders.topics.get()


if __name__ == "__main__":
    try:
        main()
    except Exception:  # noqa: BLE001  # whatever the client raises
        traceback.print_exc()
        sys.exit(70)
