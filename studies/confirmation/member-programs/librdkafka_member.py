"""A member of a real group: librdkafka, which polls unless it is paused.

A topic that begins with ``^`` is a pattern, as always in librdkafka.
"""

from __future__ import annotations

import sys
from typing import Any

import confluent_kafka
from orders import Orders, by_topic


def main() -> int:
    """Poll until the process is ended; return 70 if the client raises."""
    orders = Orders()
    topics: list[str] | None = orders.topics.get()
    static = {} if orders.instance is None else {"group.instance.id": orders.instance}
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": orders.settings["address"],
            "group.id": orders.settings["group"],
            "client.id": orders.member,
            "partition.assignment.strategy": orders.settings["assignor"],
            "enable.auto.commit": False,
            "heartbeat.interval.ms": orders.settings["heartbeat_ms"],
            "topic.metadata.refresh.interval.ms": orders.settings["refresh_ms"],
            "topic.metadata.propagation.max.ms": 1_000,  # the default is 30 s
            "session.timeout.ms": orders.settings["session_ms"],
            "max.poll.interval.ms": orders.settings["join_ms"],
            **static,
        }
    )

    def assigned(who: confluent_kafka.Consumer, added: Any) -> None:
        held = by_topic([*who.assignment(), *added])
        orders.report("assign", generation=-1, partitions=held)

    try:
        while True:
            if topics is not None:
                consumer.subscribe(topics, on_assign=assigned)
            consumer.poll(0.1)
            orders.may_run.wait()
            topics = None if orders.topics.empty() else orders.topics.get()
    except confluent_kafka.KafkaException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        return 70


if __name__ == "__main__":
    sys.exit(main())
