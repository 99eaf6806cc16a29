"""Topics that grow, shrink, and appear while groups read them, at a real broker."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson
import pytest
from kafka import KafkaConsumer, TopicPartition
from kafka.admin import KafkaAdminClient, NewPartitions
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.errors import CoordinatorNotAvailableError
from kafka.structs import OffsetAndMetadata

from conformance.broker import Broker
from tests.oracle.plugins.real import Place
from tests.pipeline.audit_files import rows_of
from tests.pipeline.local_audit import local_audit
from tests.pipeline.logged_groups import joined
from tests.support.waiting import wait_until

pytestmark = pytest.mark.heavy


@contextmanager
def admin_of(broker: Broker) -> Iterator[KafkaAdminClient]:
    admin = KafkaAdminClient(bootstrap_servers=broker.address)
    try:
        yield admin
    finally:
        admin.close()


def place_of(broker: Broker, name: str, partitions: int) -> Place:
    """Return a group and its topic, which has the same name and exists now."""
    place = Place(broker=broker, group=name, topics={name: partitions})
    place.make_topics()
    return place


def commit(place: Place, group: str, partitions: int) -> None:
    """Commit an offset of every partition, without a member."""
    consumer = KafkaConsumer(
        bootstrap_servers=place.broker.address, group_id=group, enable_auto_commit=False
    )
    (topic,) = place.topics
    places = [TopicPartition(topic, number) for number in range(partitions)]
    consumer.assign(places)
    consumer.commit({place: OffsetAndMetadata(0, "", -1) for place in places})
    consumer.close()


def join_and_leave(broker: Broker, name: str) -> None:
    """Be the only member of a group whose topic does not exist."""
    consumer = KafkaConsumer(
        bootstrap_servers=broker.address,
        group_id=name,
        partition_assignment_strategy=[RangePartitionAssignor],
        enable_auto_commit=False,
        allow_auto_create_topics=False,
    )
    consumer.subscribe([name])

    def is_stable() -> bool:
        consumer.poll(timeout_ms=100)
        try:
            described = admin.describe_groups([name])
        except CoordinatorNotAvailableError:  # the first group of a broker
            return False
        return bool(described[name]["group_state"] == "Stable")

    with admin_of(broker) as admin:
        wait_until(is_stable)
    consumer.close()


Found = list[tuple[str, int | None, int]]


def audited(broker: Broker, folder: Path, name: str) -> Found:
    """Return verdict, partition count, and newer partitions of each rebalance.

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
    found: Found = []
    for row in rows_of(summary, "rebalances"):
        if row["group_id"] == name:
            sizes = orjson.loads(row["instance"])["topics"]
            count = sizes[name]["partitions"] if name in sizes else None
            verdict = verdicts[row["rebalance_id"]]
            found.append((verdict, count, row["newer_partitions"]))
    return found


def known(found: Found) -> Found:
    """Check that all rebalances are valid, and select those that know the topic."""
    assert {verdict for verdict, _, _ in found} == {"valid"}
    return [row for row in found if row[1] is not None]


def test_a_topic_that_grows(broker: Broker, tmp_path: Path) -> None:
    name = "premise-grows"
    place = place_of(broker, name, 2)
    with joined(place.librdkafka("range")) as [first]:
        place.settled(first)
        with admin_of(broker) as admin:
            admin.create_partitions({name: NewPartitions(total_count=5)})
        grown = Place(broker=broker, group=name, topics={name: 5})
        with joined(grown.librdkafka("range")) as [second]:
            grown.settled(first, second)
    one, *others = known(audited(broker, tmp_path, name))
    assert one == ("valid", 2, 0)
    assert others[-1] == ("valid", 5, 0)


def test_a_topic_that_is_deleted_and_created_again(
    broker: Broker, tmp_path: Path
) -> None:
    name = "premise-shrinks"
    place = place_of(broker, name, 4)
    with joined(place.kafka_python("range")) as [member]:
        place.settled(member)
    commit(place, name, 4)
    with admin_of(broker) as admin:
        admin.delete_topics([name])
        wait_until(lambda: name not in admin.list_topics())
    place = place_of(broker, name, 2)
    with joined(place.kafka_python("range")) as [member]:
        place.settled(member)
    found = audited(broker, tmp_path, name)
    assert known(found) == [("valid", 4, 0), ("valid", 2, 0)]


def test_a_subscription_before_the_topic_exists(broker: Broker, tmp_path: Path) -> None:
    name = "premise-appears"
    join_and_leave(broker, name)
    place = place_of(broker, name, 3)
    with joined(place.kafka_python("range")) as [member]:
        place.settled(member)
    found = audited(broker, tmp_path, name)
    assert set(found) == {("valid", None, 0), ("valid", 3, 0)}
    assert found[-1] == ("valid", 3, 0)


def test_a_leader_with_older_metadata(broker: Broker, tmp_path: Path) -> None:
    """The second member knows five partitions; the leader two, until it asks again."""
    name = "premise-leader"
    place = place_of(broker, name, 2)
    with joined(place.kafka_python("range")) as [leader]:
        place.settled(leader)
        with admin_of(broker) as admin:
            admin.create_partitions({name: NewPartitions(total_count=5)})
        commit(place, f"{name}-other", 5)
        with joined(place.kafka_python("range")) as [second]:
            wait_until(lambda: bool(second.held))
    first, *others = known(audited(broker, tmp_path, name))
    assert first == ("valid", 2, 0)
    assert set(others) <= {("valid", 2, 3), ("valid", 5, 0)}
    assert others
