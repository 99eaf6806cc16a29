"""A librdkafka consumer as a process (`studies.recording.clients`).

Cooperative groups, and those of the new protocol, report increments. librdkafka does
not tell its application the generation.
"""

from __future__ import annotations

import sys
from typing import Any

from confluent_kafka import Consumer, KafkaException, Message

from studies.recording.clients.reporting import (
    COMMIT_MS,
    HEARTBEAT_MS,
    POLL_SECONDS,
    Commands,
    ConsumerSettings,
    report,
)


def main() -> None:
    """Consume until the input ends."""
    settings, commands = ConsumerSettings.from_arguments(), Commands()
    consumer = Consumer(_settings(settings))
    _subscribe(consumer, settings.topics)
    try:
        while not commands.leaving.is_set():
            _raise_if_fatal(consumer.poll(POLL_SECONDS))
            if (topics := commands.new_topics()) is not None:
                _subscribe(consumer, topics)
                report("subscribed", member=consumer.memberid())
    finally:
        consumer.close()


def _raise_if_fatal(message: Message | None) -> None:
    error = None if message is None else message.error()
    if error is None:
        return
    print(error, file=sys.stderr, flush=True)
    if error.fatal():
        raise KafkaException(error)


def _settings(settings: ConsumerSettings) -> dict[str, Any]:
    properties = {
        "bootstrap.servers": settings.bootstrap,
        "group.id": settings.group,
        "client.id": settings.client,
        "auto.offset.reset": "earliest",
        "auto.commit.interval.ms": COMMIT_MS,
        "group.protocol": settings.protocol,
    }
    if settings.instance is not None:
        properties["group.instance.id"] = settings.instance
    if settings.protocol == "classic":
        properties["partition.assignment.strategy"] = ",".join(settings.assignors)
        properties["session.timeout.ms"] = settings.session_ms
        properties["heartbeat.interval.ms"] = HEARTBEAT_MS
    elif settings.assignors:
        (properties["group.remote.assignor"],) = settings.assignors
    return properties


def _subscribe(consumer: Consumer, topics: list[str]) -> None:
    def reporting(event: str) -> Any:
        def callback(who: Consumer, partitions: list[Any]) -> None:
            report(event, partitions, member=who.memberid())

        return callback

    consumer.subscribe(
        topics,
        on_assign=reporting("assign"),
        on_revoke=reporting("revoke"),
        on_lost=reporting("lost"),
    )


if __name__ == "__main__":
    main()
