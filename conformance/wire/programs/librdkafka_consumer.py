"""A consumer of librdkafka that polls until its input ends.

Arguments: address, group, topic, assignor.
"""

from __future__ import annotations

import os
import sys
import threading
import time

import confluent_kafka

PATIENCE_SECONDS = 2.0


def main() -> int:
    """Join the group and poll; return 70 if the client raises."""
    address, group, topic, assignor = sys.argv[1:]
    settings = {
        "bootstrap.servers": address,
        "group.id": group,
        "partition.assignment.strategy": assignor,
        "enable.auto.commit": False,
        "heartbeat.interval.ms": 100,
        "retry.backoff.ms": 1,
        "retry.backoff.max.ms": 10,
        "topic.metadata.refresh.fast.interval.ms": 10,
    }
    ended = threading.Event()
    threading.Thread(target=_await_end, args=(ended,), daemon=True).start()
    consumer = confluent_kafka.Consumer(settings)
    try:
        consumer.subscribe([topic])
        while not ended.is_set():
            consumer.poll(0.1)
    except confluent_kafka.KafkaException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        return 70
    return 0


def _await_end(ended: threading.Event) -> None:
    sys.stdin.read()
    ended.set()
    time.sleep(PATIENCE_SECONDS)
    os._exit(0)  # the client does not return


if __name__ == "__main__":
    sys.exit(main())
