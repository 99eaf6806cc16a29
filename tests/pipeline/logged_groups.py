"""A real segment of the log of groups, with groups of both protocols.

``python -m tests.pipeline.logged_groups`` records ``tests/data/log-segments`` again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import confluent_kafka
from confluent_kafka.admin import AdminClient

from conformance.broker import Broker, running_broker
from tests.oracle.plugins.real import Member, Place

NAME = f"{0:020}.log"
DATA = Path(__file__).parent.parent / "data" / "log-segments"
BROKER = "__consumer_offsets-0"
TOPICS = {"orders": 4, "payments": 2}
WAIT = 120  # seconds


@contextmanager
def joined(*members: Member) -> Iterator[list[Member]]:
    """Let members leave at the end, also those that are added."""
    present = [*members]
    try:
        yield present
    finally:
        for member in present:
            member.leave()


def fill(broker: Broker, mark: str = "") -> None:
    """Make groups of both protocols, commit offsets, also in transactions, delete.

    The names of topics and groups begin with ``mark``.
    """
    topics = {f"{mark}{name}": count for name, count in TOPICS.items()}
    Place(broker=broker, group="", topics=topics).make_topics()
    classic = Place(broker=broker, group=f"{mark}klassisch-ü", topics=topics)
    with joined(classic.kafka_python("range")) as members:
        classic.settled(*members)
        members.append(classic.librdkafka("range"))
        classic.settled(*members)
    sticky = Place(broker=broker, group=f"{mark}java", topics=topics)
    with joined(*(sticky.java("cooperative-sticky") for _ in range(2))) as members:
        sticky.settled(*members)
    new = Place(broker=broker, group=f"{mark}next", topics=topics)
    with joined(*(new.new_protocol(*topics) for _ in range(2))) as members:
        new.settled(*members)
    for place in (classic, sticky):
        place.wait_until_empty()
    _commit(broker, mark)


def _commit(broker: Broker, mark: str) -> None:
    """Commit offsets: plainly, in a transaction that commits, in one that aborts."""
    server: dict[str, Any] = {"bootstrap.servers": broker.address}
    topic, deleted_group = f"{mark}orders", f"{mark}gone"
    consumer = confluent_kafka.Consumer(server | {"group.id": f"{mark}only-commits"})
    place = confluent_kafka.TopicPartition(topic, 1, 5, metadata='a "payload: b')
    consumer.commit(offsets=[place], asynchronous=False)
    gone = confluent_kafka.Consumer(server | {"group.id": deleted_group})
    gone.commit(offsets=[place], asynchronous=False)
    producer = confluent_kafka.Producer(server | {"transactional.id": f"{mark}one"})
    producer.init_transactions(WAIT)
    metadata = consumer.consumer_group_metadata()
    for offset, end in (
        (7, producer.commit_transaction),
        (999, producer.abort_transaction),
    ):
        producer.begin_transaction()
        place = confluent_kafka.TopicPartition(topic, 2, offset)
        producer.send_offsets_to_transaction([place], metadata, WAIT)
        end(WAIT)
    consumer.close()
    gone.close()
    admin = AdminClient(server)
    deleted = admin.delete_consumer_groups([deleted_group])
    deleted[deleted_group].result(WAIT)  # the tombstones are written


def segment_of(broker: Broker) -> Path:
    """Return the segment of the broker's log of groups, which has one partition."""
    return broker.log.parent / "data" / BROKER / NAME


def record_again(target: Path = DATA) -> None:
    """Write the segment."""
    with running_broker() as broker:
        fill(broker)
        data = segment_of(broker).read_bytes()
    (target / BROKER / NAME).write_bytes(data)


if __name__ == "__main__":
    record_again()
