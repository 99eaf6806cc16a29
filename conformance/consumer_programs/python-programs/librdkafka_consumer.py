"""A consumer of librdkafka (`orders` documents the protocol).

Cooperative groups, and those of the new protocol, report increments. librdkafka does
not report the generation to its application.
"""

from __future__ import annotations

import sys
from typing import Any

import confluent_kafka
from orders import Orders, end_with


def main() -> None:
    """Poll until the consumer is to leave."""
    orders = Orders()
    topics = orders.first_topics()
    if topics is None:
        return
    consumer = confluent_kafka.Consumer(_settings(orders))
    _subscribe(consumer, topics, orders)
    while not orders.leaving.is_set():
        _raise_if_fatal(consumer.poll(orders.poll_ms / 1000))
        topics = orders.next_topics()
        if topics is not None:
            _subscribe(consumer, topics, orders)
            orders.report("subscribed", member_id=consumer.memberid())
    consumer.close()


def _settings(orders: Orders) -> dict[str, Any]:
    """Return the properties; in the new protocol, the broker assigns (KIP-848)."""
    names = orders.assignor_names
    if orders.settings.get("group.protocol") != "consumer":
        return orders.settings | {"partition.assignment.strategy": ",".join(names)}
    if names:
        return orders.settings | {"group.remote.assignor": names[0]}
    return orders.settings


def _raise_if_fatal(message: confluent_kafka.Message | None) -> None:
    error = None if message is None else message.error()
    if error is None:
        return
    print(error, file=sys.stderr, flush=True)
    if error.fatal():
        raise confluent_kafka.KafkaException(error)


def _subscribe(
    consumer: confluent_kafka.Consumer, topics: list[str], orders: Orders
) -> None:
    def reporting(event: str) -> Any:
        def callback(who: confluent_kafka.Consumer, partitions: list[Any]) -> None:
            orders.report(event, partitions, member_id=who.memberid())

        return callback

    if orders.reports:
        consumer.subscribe(
            topics,
            on_assign=reporting("assign"),
            on_revoke=reporting("revoke"),
            on_lost=reporting("lost"),
        )
    else:
        consumer.subscribe(topics)


if __name__ == "__main__":
    end_with(main)
