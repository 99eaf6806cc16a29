"""Real segments of the log of groups, and what ``kafka-dump-log`` prints of them.

``python -m tests.pipeline.dumped_groups`` records ``tests/data/dump-log`` again: a
broker's segment with groups of both protocols, a segment of rare records, and one that
is damaged; and the output for all three, with and without the decoder.
"""

from __future__ import annotations

import shutil
import struct
import tempfile
from pathlib import Path
from typing import Any

import confluent_kafka
from confluent_kafka.admin import AdminClient
from kafka.coordinator.assignors.range import RangePartitionAssignor

from conformance.broker import Broker, dump_log, running_broker
from pipeline.records import OffsetCommit
from tests.live.test_real_cluster import new_protocol
from tests.pipeline.test_log_segments import ABORT, COMMIT, NAME, batch, marker
from tests.plugins.real import Place
from tests.records.writers import offset_key, offset_value

DATA = Path(__file__).parent.parent / "data" / "dump-log"
BROKER, RARE, DAMAGED = (f"__consumer_offsets-{number}" for number in (0, 7, 12))
TOPICS = {"orders": 4, "payments": 2}
WAIT = 120  # seconds


def fill(broker: Broker, mark: str = "") -> None:
    """Make groups of both protocols, commit offsets, also in transactions, delete.

    The names of topics and groups begin with ``mark``.
    """
    topics = {f"{mark}{name}": count for name, count in TOPICS.items()}
    Place(broker=broker, group="", topics=topics).make_topics()
    classic = Place(broker=broker, group=f"{mark}klassisch-ü", topics=topics)
    members = [classic.kafka_python(RangePartitionAssignor)]
    try:
        classic.settled(*members)
        members.append(classic.librdkafka("range"))
        classic.settled(*members)
    finally:
        for member in members:
            member.leave()
    sticky = Place(broker=broker, group=f"{mark}java", topics=topics)
    members = [sticky.java("cooperative-sticky") for _ in range(2)]
    try:
        sticky.settled(*members)
    finally:
        for member in members:
            member.leave()
    new = Place(broker=broker, group=f"{mark}next", topics=topics)
    members = [new_protocol(new, *topics) for _ in range(2)]
    try:
        new.settled(*members)
    finally:
        for member in members:
            member.leave()
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


def rare_segment() -> bytes:
    """Write transactions, old versions, unknown types, and values that are no value."""
    commits = [
        _record(0, version=0, record_type=0),
        _record(1, version=1, record_type=1),
        _record(2, version=2, record_type=1),
        _record(3, version=4, record_type=1),
    ]
    unknown: dict[str, Any] = {
        "key": "00630003616263",
        "value": "00",
        "timestamp": 5,
        "offset": 4,
    }
    noise = commits[3] | {"offset": 5, "value": "0003ffff"}
    newer = commits[3] | {"offset": 6, "value": "0009" + "00" * 30}
    share = {"key": "000b0001" + b"s".hex(), "offset": 7, "timestamp": 6}
    share["value"] = (struct.pack(">hiq", 0, 3, 9) + b"\0").hex()
    parts = [batch([one]) for one in (*commits, unknown, noise, newer, share)]
    parts += [
        batch([_record(8)], producer=1),
        batch([_record(9)], producer=2),
        marker(1, 10, ABORT),
        marker(2, 11, COMMIT),
        batch([_record(12)], producer=3),  # its end is in the next segment
    ]
    return b"".join(parts)


def damaged_segment() -> bytes:
    """Write a batch with a wrong checksum between two that are sound."""
    first, second, third = (batch([_record(offset)]) for offset in range(3))
    broken = bytearray(second)
    broken[17] ^= 1  # of the checksum
    return first + bytes(broken) + third + b"\1\2\3"


def _record(offset: int, *, version: int = 3, record_type: int = 1) -> dict[str, Any]:
    commit = OffsetCommit(
        group_id="rare",
        topic="orders",
        partition=offset,
        version=version,
        offset=100 + offset,
        leader_epoch=4 if version >= 3 else -1,
        metadata="?",
        commit_timestamp=1_700_000_000_000 + offset,
        expire_timestamp=1_800_000_000_000 if version == 1 else -1,
        topic_id=bytes(range(16)) if version >= 4 else None,
    )
    return {
        "key": offset_key(commit, record_type=record_type).hex(),
        "value": offset_value(commit).hex(),
        "timestamp": 1_700_000_000_000 + offset,
        "offset": offset,
    }


def record_again(target: Path = DATA) -> None:
    """Write segments, ``decoded.txt``, and ``undecoded.txt``."""
    with tempfile.TemporaryDirectory() as place, running_broker() as broker:
        fill(broker)
        segments = [Path(place) / folder / NAME for folder in (BROKER, RARE, DAMAGED)]
        for segment in segments:
            segment.parent.mkdir()
        data = segment_of(broker).read_bytes()
        segments[0].write_bytes(data)
        segments[1].write_bytes(rare_segment())
        segments[2].write_bytes(damaged_segment())
        decoded = dump_log(segments).replace(place, "/var/lib/kafka")
        plain = dump_log(segments[2:], ["--print-data-log"])
        for segment in segments:
            kept = target / segment.parent.name
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(segment.parent, kept)
    (target / "decoded.txt").write_text(decoded)
    (target / "undecoded.txt").write_text(plain.replace(place, "/var/lib/kafka"))


if __name__ == "__main__":
    record_again()
