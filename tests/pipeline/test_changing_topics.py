"""Topics that grow, shrink, and appear while groups read them, at a real broker."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import orjson
import pytest
from confluent_kafka import Consumer
from kafka import KafkaConsumer, TopicPartition
from kafka.admin import KafkaAdminClient, NewPartitions, NewTopic
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.structs import OffsetAndMetadata

from conformance.broker import Broker
from tests.pipeline.audit_files import rows_of
from tests.pipeline.local_audit import local_audit

pytestmark = pytest.mark.nightly

WAIT: Final = 60.0
"""Seconds that a change may take."""
FRESH: Final = 500
"""Age of metadata in milliseconds at which a consumer that notices changes asks."""


class Cluster:
    """A real broker, with topics that change and consumers that are polled here."""

    def __init__(self, broker: Broker) -> None:
        self.broker = broker
        self.admin = KafkaAdminClient(bootstrap_servers=broker.address)

    def create(self, topic: str, partitions: int) -> None:
        new = NewTopic(name=topic, num_partitions=partitions, replication_factor=1)
        self.admin.create_topics([new])

    def grow(self, topic: str, partitions: int) -> None:
        self.admin.create_partitions({topic: NewPartitions(total_count=partitions)})

    def state_of(self, group: str) -> str:
        return str(self.admin.describe_groups([group])[group]["group_state"])

    def delete(self, topic: str) -> None:
        self.admin.delete_topics([topic])
        until(lambda: topic not in self.admin.list_topics())

    @contextmanager
    def consumer(self, group: str, topic: str) -> Iterator[KafkaConsumer]:
        """Join a group; the metadata of the consumer is 5 minutes old at most."""
        consumer = KafkaConsumer(
            bootstrap_servers=self.broker.address,
            group_id=group,
            partition_assignment_strategy=[RangePartitionAssignor],
            enable_auto_commit=False,
            allow_auto_create_topics=False,
            heartbeat_interval_ms=300,
            session_timeout_ms=10_000,
        )
        consumer.subscribe([topic])
        try:
            yield consumer
        finally:
            consumer.close()

    @contextmanager
    def noticing_consumer(self, group: str, topic: str) -> Iterator[Consumer]:
        """Join a group with a consumer that soon notices new partitions."""
        settings = {
            "bootstrap.servers": self.broker.address,
            "group.id": group,
            "partition.assignment.strategy": "range",
            "topic.metadata.refresh.interval.ms": FRESH,
            "enable.auto.commit": False,
        }
        consumer = Consumer(settings)
        consumer.subscribe([topic])
        try:
            yield consumer
        finally:
            consumer.close()

    def commit(self, group: str, topic: str, partitions: int) -> None:
        """Commit an offset of every partition, without a member."""
        consumer = KafkaConsumer(
            bootstrap_servers=self.broker.address,
            group_id=group,
            enable_auto_commit=False,
        )
        places = [TopicPartition(topic, number) for number in range(partitions)]
        consumer.assign(places)
        consumer.commit({place: OffsetAndMetadata(0, "", -1) for place in places})
        consumer.close()


def until(condition: Callable[[], bool], *polled: KafkaConsumer | Consumer) -> None:
    """Poll consumers until a condition holds."""
    deadline = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < deadline
        for consumer in polled:
            if isinstance(consumer, Consumer):
                consumer.poll(0.1)
            else:
                consumer.poll(timeout_ms=100)
        time.sleep(0.02)


def assigned(consumer: KafkaConsumer | Consumer, count: int) -> Callable[[], bool]:
    return lambda: len(consumer.assignment()) == count


@pytest.fixture
def cluster(broker: Broker) -> Iterator[Cluster]:
    found = Cluster(broker)
    yield found
    found.admin.close()


def audited(
    broker: Broker, folder: Path, group: str, topic: str
) -> list[tuple[str, int | None, int]]:
    """Return verdict, posed count, and newer partitions of each rebalance.

    A consumer that joins before it knows the topic causes one that knows none.
    """
    written = broker.log.parent / "data" / "__consumer_offsets-0"
    source = folder / written.name
    source.mkdir()
    for path in written.glob("*.log"):
        (source / path.name).write_bytes(path.read_bytes())
    summary = local_audit([source], folder / "out", assignors=["optimum"])
    verdicts = {
        row["rebalance_id"]: row["verdict"]
        for row in rows_of(summary, "answers")
        if row["assignor"] == "actual"
    }
    found = []
    for row in rows_of(summary, "rebalances"):
        if row["group_id"] == group:
            sizes = orjson.loads(row["instance"])["topics"]
            count = sizes[topic]["partitions"] if topic in sizes else None
            found.append(
                (verdicts[row["rebalance_id"]], count, row["newer_partitions"])
            )
    return found


Found = list[tuple[str, int | None, int]]


def known(found: Found) -> Found:
    """Check that all rebalances are valid, and select those that know the topic."""
    assert {verdict for verdict, _, _ in found} == {"valid"}
    return [row for row in found if row[1] is not None]


def test_a_topic_that_grows(cluster: Cluster, tmp_path: Path) -> None:
    group = topic = "premise-grows"
    cluster.create(topic, 2)
    with cluster.noticing_consumer(group, topic) as consumer:
        until(assigned(consumer, 2), consumer)
        cluster.grow(topic, 5)
        until(assigned(consumer, 5), consumer)
    found = audited(cluster.broker, tmp_path, group, topic)
    assert known(found) == [("valid", 2, 0), ("valid", 5, 0)]


def test_a_topic_that_is_deleted_and_created_again(
    cluster: Cluster, tmp_path: Path
) -> None:
    group = topic = "premise-shrinks"
    cluster.create(topic, 4)
    with cluster.consumer(group, topic) as consumer:
        until(assigned(consumer, 4), consumer)
    cluster.commit(group, topic, 4)
    cluster.delete(topic)
    cluster.create(topic, 2)
    with cluster.consumer(group, topic) as consumer:
        until(assigned(consumer, 2), consumer)
    found = audited(cluster.broker, tmp_path, group, topic)
    assert known(found) == [("valid", 4, 0), ("valid", 2, 0)]


def test_a_subscription_before_the_topic_exists(
    cluster: Cluster, tmp_path: Path
) -> None:
    group = topic = "premise-appears"
    with cluster.consumer(group, topic) as consumer:
        until(lambda: cluster.state_of(group) == "Stable", consumer)
    cluster.create(topic, 3)
    with cluster.consumer(group, topic) as consumer:
        until(assigned(consumer, 3), consumer)
    found = audited(cluster.broker, tmp_path, group, topic)
    assert set(found) == {("valid", None, 0), ("valid", 3, 0)}
    assert found[-1] == ("valid", 3, 0)


def test_a_leader_with_older_metadata(cluster: Cluster, tmp_path: Path) -> None:
    """The second member knows five partitions; the leader two, until it asks again."""
    group = topic = "premise-leader"
    cluster.create(topic, 2)
    with cluster.consumer(group, topic) as leader:
        until(assigned(leader, 2), leader)
        cluster.grow(topic, 5)
        cluster.commit(f"{group}-other", topic, 5)
        with cluster.consumer(group, topic) as second:
            until(lambda: bool(second.assignment()), leader, second)
    first, *others = known(audited(cluster.broker, tmp_path, group, topic))
    assert first == ("valid", 2, 0)
    assert set(others) <= {("valid", 2, 3), ("valid", 5, 0)}
    assert others
