"""Snapshots of a real broker's groups, of both protocols, by the command."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import confluent_kafka
import pyarrow.dataset as ds
import pytest
from confluent_kafka import TopicCollection
from confluent_kafka.admin import AdminClient
from kafka.admin import KafkaAdminClient

from conformance.broker import Broker
from pipeline.live import ClientSettings, LogRange, OffsetsLog
from pipeline.records import decode_record
from pipeline.tables import HARM
from rebalance import Assignment, members_of
from rebalance.building import instance_from_confluent, instance_from_kafka_python
from tests.oracle.plugins.real import RACK, SETTLE_SECONDS, Place, log_of_groups
from tests.pipeline.logged_groups import joined
from verify import judge

TOPICS = {"orders": 4, "payments": 3}
RECORDS = 6  # in each partition
COMMITTED = 2  # in payments 0 of the new group

pytestmark = pytest.mark.heavy(minutes=1.5)


@pytest.fixture(scope="module", autouse=True)
def topics(broker: Broker) -> None:
    """Make topics of these names, with a few records in each partition."""
    Place(broker=broker, group="", topics=TOPICS).make_topics()
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.address})
    for topic, count in TOPICS.items():
        for number in range(count):
            for _ in range(RECORDS):
                producer.produce(topic, b"x", partition=number)
    assert producer.flush(30) == 0


def snapshot(
    broker: Broker, folder: Path, *requested: str
) -> tuple[subprocess.CompletedProcess[str], dict[str, Any], dict[str, Any]]:
    """Run the command; return its outcome, and instances and answers by group."""
    target = folder / "assignments.jsonl"
    command = [sys.executable, "-m", "oracle", "snapshot"]
    command += ["--bootstrap-server", broker.address, "--assignments", str(target)]
    for group in requested:
        command += ["--group", group]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    texts = done.stdout, target.read_text() if target.exists() else ""
    instances, answers = (
        {document["group"]: document for document in map(json.loads, text.splitlines())}
        for text in texts
    )
    return done, instances, answers


def held_of(document: dict[str, Any]) -> set[frozenset[tuple[str, int]]]:
    return {
        frozenset((topic, n) for topic, numbers in held.items() for n in numbers)
        for held in document["members"].values()
    }


def commit(broker: Broker, group: str, offset: int) -> None:
    """Commit an offset of payments 0 before the group has members."""
    consumer = confluent_kafka.Consumer(
        {"bootstrap.servers": broker.address, "group.id": group}
    )
    try:
        place = confluent_kafka.TopicPartition("payments", 0, offset)
        consumer.commit(offsets=[place], asynchronous=False)
    finally:
        consumer.close()


def test_both_protocols_are_read_as_the_members_see_them(
    broker: Broker, tmp_path: Path
) -> None:
    old = Place(broker=broker, group="classic", topics=TOPICS)
    new = Place(broker=broker, group="next", topics=TOPICS)
    commit(broker, "next", COMMITTED)
    classic = [
        old.kafka_python("range"),
        old.kafka_python("range", instance_id="s1"),
    ]
    following = [new.new_protocol(*TOPICS), new.new_protocol("^pay.*", "orders")]
    with joined(*classic, *following):
        old.settled(*classic)
        new.settled(*following)
        done, instances, answers = snapshot(broker, tmp_path)
        assert done.returncode == 0, done.stderr
        assert instances.keys() == answers.keys() == {"classic", "next"}
        for group, members in (("classic", classic), ("next", following)):
            assert held_of(answers[group]) == {member.held for member in members}
            verdict = judge(instances[group], answers[group])
            assert verdict["verdict"] == "valid"
            assert verdict["figures"]["moves"] == 0
            for member in instances[group]["members"].values():
                assert sorted(member["subscription"]) == sorted(TOPICS)
        static = [
            m.get("instance_id") for m in instances["classic"]["members"].values()
        ]
        assert sorted(static, key=str) == [None, "s1"]
        assert {m["rack"] for m in instances["next"]["members"].values()} == {RACK}
        topics = instances["next"]["topics"]
        assert {name: topic["partitions"] for name, topic in topics.items()} == TOPICS
        assert topics["orders"]["racks"] == [[RACK]] * TOPICS["orders"]
        assert topics["payments"]["lag"] == [RECORDS - COMMITTED, RECORDS, RECORDS]
        assert [answers[name]["assignor"] for name in ("classic", "next")] == [
            "range",
            "uniform",
        ]


OWN = b"written"
"""A group of this test, which shares the broker."""


def test_the_log_of_groups_is_read_to_its_end(broker: Broker) -> None:
    commit(broker, OWN.decode(), 1)
    log = OffsetsLog(server=broker.address, settings=ClientSettings())
    (whole,) = log.ranges()
    found = list(log.records(whole))
    assert found[-1].offset == whole.end - 1
    # Not all: of other groups on this broker, transactions were aborted.
    assert [
        (record.offset, record.key, record.value)
        for record in found
        if OWN in (record.key or b"")
    ] == [record for record in log_of_groups(broker) if OWN in record[1]]
    half = LogRange(partition=0, start=whole.start, end=whole.end // 2)
    assert list(log.records(half)) == [
        record for record in found if record.offset < half.end
    ]
    groups = {decode_record(record.key or b"", None).group_id for record in found}
    assert OWN.decode() in groups


def test_an_audit_of_the_cluster_is_that_of_its_records(
    broker: Broker, tmp_path: Path
) -> None:
    """Rows differ in the source alone, whether Kafka or a file has the records."""
    place = Place(broker=broker, group="audited", topics=TOPICS)
    members = [place.kafka_python("range") for _ in range(2)]
    with joined(*members):
        place.settled(*members)
    place.wait_until_empty()
    live = audited(tmp_path / "live", "--bootstrap-server", broker.address)
    written = tmp_path / "records"
    written.mkdir()
    with (written / "consumer_offsets.jsonl").open("w") as file:
        for offset, key, value in log_of_groups(broker):
            record = {"partition": 0, "offset": offset, "key": key.hex()}
            value_text = None if value is None else value.hex()
            file.write(json.dumps(record | {"value": value_text}) + "\n")
    (written / "topics.json").write_text(json.dumps(TOPICS))
    (written / "offsets.json").write_text(
        json.dumps(
            {
                "offsets": {
                    topic: {
                        str(number): {"earliest": 0, "latest": RECORDS}
                        for number in range(count)
                    }
                    for topic, count in TOPICS.items()
                }
            }
        )
    )
    filed = audited(tmp_path / "filed", str(written))
    assert {row["lag_basis"] for row in live["rebalances"]} == {"end-of-recording"}
    for name in ("rebalances", "answers", "members"):
        assert live[name] == filed[name]
        assert live[name]


def audited(out: Path, *arguments: str) -> dict[str, list[dict[str, Any]]]:
    """Audit by the command; return the group's tables without sources and times."""
    command = [sys.executable, "-m", "oracle", "audit", *arguments]
    command += ["--out", str(out), "--assignors", "range", "--master", "local[1]"]
    subprocess.run(command, check=True, capture_output=True)
    without = {"source", "at", "date", "until", "ended", "lasted_ms", "lasted_unknown"}
    without |= {field.name for field in HARM}
    return {
        name: [
            {column: row[column] for column in row.keys() - without}
            for row in ds.dataset(out / name, format="parquet").to_table().to_pylist()
            if row["group_id"] == "audited"
        ]
        for name in ("rebalances", "answers", "members")
    }


def test_groups_that_cannot_be_read_are_named(broker: Broker, tmp_path: Path) -> None:
    place = Place(broker=broker, group="alone", topics=TOPICS)
    member = place.new_protocol(*TOPICS)
    with joined(member):
        place.settled(member)
        done, instances, _ = snapshot(broker, tmp_path, "alone", "absent")
        assert done.returncode == 2
        assert instances.keys() == {"alone"}
        assert "group absent: there is no such group" in done.stderr
    deadline = time.monotonic() + SETTLE_SECONDS
    while done.returncode != 2 or "alone: has no members" not in done.stderr:
        assert time.monotonic() < deadline, done.stderr
        done, instances, _ = snapshot(broker, tmp_path, "alone")
    assert instances == {}


def test_admin_clients_of_python_describe_a_group(broker: Broker) -> None:
    """Instances from both clients' objects have what the members have."""
    place = Place(broker=broker, group="described", topics=TOPICS)
    members = [place.kafka_python("range") for _ in range(2)]
    with joined(*members):
        place.settled(*members)
        kafka_python = KafkaAdminClient(bootstrap_servers=broker.address)
        try:
            one = instance_from_kafka_python(
                kafka_python.describe_groups([place.group])[place.group],
                kafka_python.describe_topics(),
            )
        finally:
            kafka_python.close()
        librdkafka = AdminClient({"bootstrap.servers": broker.address})
        described = librdkafka.describe_consumer_groups([place.group])[place.group]
        other = instance_from_confluent(
            described.result(), librdkafka.list_topics(), [*TOPICS]
        )
        requested = TopicCollection([*TOPICS])
        topics = [
            topic.result() for topic in librdkafka.describe_topics(requested).values()
        ]
        third = instance_from_confluent(described.result(), topics, [*TOPICS])
        wanted = {member.held for member in members}
    assert one.members == other.members == third.members
    assert one.topics == other.topics == third.topics == tuple(TOPICS)
    assert one.n_classes == 1
    for instance in (one, other, third):
        held = members_of(instance, Assignment(assignee=instance.owner.copy()))
        assert held_of({"members": held}) == wanted
