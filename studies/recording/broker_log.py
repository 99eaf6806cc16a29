"""Topics of a recording, and ``__consumer_offsets`` as the broker has it."""

from __future__ import annotations

import json
import time
from pathlib import Path
from random import Random
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from confluent_kafka import (
    Consumer,
    KafkaException,
    Producer,
    TopicCollection,
    TopicPartition,
    Uuid,
)
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions

from pipeline.live import ClientSettings, OffsetsLog
from rebalance import OutsideError

LOG: Final = "__consumer_offsets"
SECONDS: Final = 30.0
SCHEMA: Final = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.int64()),
        ("key", pa.binary()),
        ("value", pa.binary()),
    ]
)
"""Columns of a recording, as ``recordings/churn/README.md`` documents them."""


def produce(
    address: str, topics: dict[str, int], random: Random, most: int = 50
) -> None:
    """Write between 1 and ``most`` records to every partition."""
    producer = Producer({"bootstrap.servers": address})
    for topic in sorted(topics):
        for number in range(topics[topic]):
            for _ in range(random.randint(1, most)):
                producer.produce(topic, b"x", partition=number)
    if producer.flush(SECONDS):
        raise KafkaException("records were not delivered")


def add_partitions(address: str, topic: str, partitions: int) -> None:
    """Let a topic have so many partitions.

    Raises
    ------
    OutsideError
        If it cannot have them.
    """
    admin = AdminClient({"bootstrap.servers": address})
    try:
        asked = admin.create_partitions([NewPartitions(topic, partitions)])
        asked[topic].result(SECONDS)
    except KafkaException as error:
        raise OutsideError(f"cannot add partitions to {topic}: {error}") from None


def write_topics(address: str, topics: dict[str, int], path: Path) -> None:
    """Write partition counts and topic ids."""
    admin = AdminClient({"bootstrap.servers": address})
    stated: dict[str, Any] = {}
    found = admin.describe_topics(TopicCollection(sorted(topics)))
    for name, described in found.items():
        about = described.result(SECONDS)
        stated[name] = {"partitions": len(about.partitions), "id": _id(about.topic_id)}
    path.write_text(json.dumps(stated, indent=1) + "\n")


def _id(topic_id: Uuid) -> str:
    """Return the id as Kafka's tools print it; librdkafka uses another alphabet."""
    return str(topic_id).replace("+", "-").replace("/", "_")


def write_offsets(address: str, topics: dict[str, int], path: Path) -> None:
    """Write the earliest and latest offset of each partition."""
    consumer = Consumer({"bootstrap.servers": address, "group.id": "unused"})
    try:
        stated: dict[str, dict[str, dict[str, int]]] = {}
        for topic in sorted(topics):
            for number in range(topics[topic]):
                earliest, latest = consumer.get_watermark_offsets(
                    TopicPartition(topic, number), timeout=SECONDS
                )
                stated.setdefault(topic, {})[str(number)] = {
                    "earliest": earliest,
                    "latest": latest,
                }
    finally:
        consumer.close()
    now = time.time_ns() // 1_000_000
    path.write_text(json.dumps({"ms": now, "offsets": stated}) + "\n")


def write_log(address: str, path: Path) -> int:
    """Write every record of the broker's log of groups; return how many there are.

    Raises
    ------
    OutsideError
        If the log cannot be read.
    """
    log = OffsetsLog(server=address, settings=ClientSettings())
    rows = [
        {
            "topic": LOG,
            "partition": record.partition,
            "offset": record.offset,
            "timestamp": record.at,
            "key": record.key,
            "value": record.value,
        }
        for within in log.ranges()
        for record in log.records(within)
    ]
    pq.write_table(pa.Table.from_pylist(rows, SCHEMA), path, compression="zstd")
    return len(rows)
