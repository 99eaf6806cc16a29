"""Members of real groups: four idle clients, and the broker's log.

A member with an ``instance_id`` is static (KIP-345): it leaves without a LeaveGroup.
The history of a group is read from the broker's log, ``__consumer_offsets``: leader,
protocol, and bytes of the members per generation.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from threading import Event, Thread
from typing import Any

import confluent_kafka
from aiokafka import AIOKafkaConsumer
from kafka import KafkaConsumer, TopicPartition
from kafka.admin import KafkaAdminClient, NewTopic

from conformance.broker import Broker
from conformance.consumer_programs import Property, RequestedConsumer, java_consumer
from oracle.plugins import aiokafka as for_aiokafka
from pipeline.records import GroupMetadata, decode_record

SETTLE_SECONDS = 40
AT_REST = 0.6  # seconds without a change; heartbeats are a third of that
HEARTBEAT = 200  # ms
SESSION = 10_000  # ms
POLL = 500  # ms

Held = frozenset[tuple[str, int]]


class Member:
    """A consumer in a thread of its own; ``held`` is what it has now."""

    def __init__(self, body: Callable[[Member], None]) -> None:
        self.held: Held = frozenset()
        self.leaving = Event()
        self.error: BaseException | None = None
        self._thread = Thread(target=self._run, args=(body,), daemon=True)
        self._thread.start()

    def _run(self, body: Callable[[Member], None]) -> None:
        try:
            body(self)
        except BaseException as error:  # noqa: BLE001  # shown where it is waited for
            self.error = error

    def leave(self) -> None:
        self.leaving.set()
        self._thread.join(20)
        self.held = frozenset()
        if self.error is not None:
            raise self.error


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A group at a broker, and the topics that its members want."""

    broker: Broker
    group: str
    topics: dict[str, int]

    @property
    def partitions(self) -> set[tuple[str, int]]:
        return {(t, n) for t, count in self.topics.items() for n in range(count)}

    def make_topics(self) -> None:
        admin = KafkaAdminClient(bootstrap_servers=self.broker.address)
        try:
            admin.create_topics(
                [
                    NewTopic(name=name, num_partitions=count, replication_factor=1)
                    for name, count in self.topics.items()
                ]
            )
        finally:
            admin.close()

    def kafka_python(self, *assignors: Any, instance_id: str | None = None) -> Member:
        def body(member: Member) -> None:
            consumer = KafkaConsumer(
                *self.topics,
                bootstrap_servers=self.broker.address,
                group_id=self.group,
                group_instance_id=instance_id,
                partition_assignment_strategy=assignors,
                enable_auto_commit=False,
                heartbeat_interval_ms=HEARTBEAT,
                session_timeout_ms=SESSION,
            )
            try:
                for topic in self.topics:  # so that it knows them when it joins
                    consumer.partitions_for_topic(topic)
                while not member.leaving.is_set():
                    consumer.poll(timeout_ms=POLL)
                    member.held = frozenset(map(tuple, consumer.assignment()))
            finally:
                consumer.close()

        return Member(body)

    def aiokafka(
        self, *assignors: for_aiokafka.AiokafkaAssignor, instance_id: str | None = None
    ) -> Member:
        async def be(member: Member) -> None:
            consumer = AIOKafkaConsumer(
                *self.topics,
                bootstrap_servers=self.broker.address,
                group_id=self.group,
                group_instance_id=instance_id,
                partition_assignment_strategy=assignors,
                enable_auto_commit=False,
                heartbeat_interval_ms=HEARTBEAT,
                session_timeout_ms=SESSION,
            )
            for assignor in assignors:
                assignor.follow(consumer)
            await consumer.start()
            try:
                while not member.leaving.is_set():
                    await consumer.getmany(timeout_ms=50)
                    member.held = frozenset(map(tuple, consumer.assignment()))
            finally:
                await consumer.stop()

        return Member(lambda member: asyncio.run(be(member)))

    def librdkafka(self, strategy: str) -> Member:
        def body(member: Member) -> None:
            consumer = confluent_kafka.Consumer(
                {
                    "bootstrap.servers": self.broker.address,
                    "group.id": self.group,
                    "partition.assignment.strategy": strategy,
                    "enable.auto.commit": False,
                    "heartbeat.interval.ms": HEARTBEAT,
                    "session.timeout.ms": SESSION,
                }
            )
            consumer.subscribe(list(self.topics))
            try:
                while not member.leaving.is_set():
                    consumer.poll(0.05)
                    now = consumer.assignment()
                    member.held = frozenset(
                        (place.topic, place.partition) for place in now
                    )
            finally:
                consumer.close()

        return Member(body)

    def java(self, *protocols: str, instance_id: str | None = None) -> Member:
        settings: dict[str, Property] = {
            "bootstrap.servers": self.broker.address,
            "group.id": self.group,
            "enable.auto.commit": False,
            "heartbeat.interval.ms": HEARTBEAT,
            "session.timeout.ms": SESSION,
        }
        if instance_id is not None:
            settings["group.instance.id"] = instance_id
        requested = RequestedConsumer(
            settings=settings, assignors=protocols, topics=list(self.topics)
        )
        command = java_consumer(requested)

        def body(member: Member) -> None:
            with subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            ) as process:
                assert process.stdin is not None
                Thread(target=_listen, args=(process, member), daemon=True).start()
                while not member.leaving.wait(0.05) and process.poll() is None:
                    pass
                process.stdin.write(b'{"do": "leave", "member": ""}\n')
                process.stdin.flush()
                try:
                    code = process.wait(15)
                except subprocess.TimeoutExpired:
                    process.kill()
                    raise
            assert code == 0

        return Member(body)

    def settled(self, *members: Member) -> None:
        """Wait until each partition has one member, all have some, and nothing moves.

        All subscribe to all topics: whoever leads, of each topic nobody has more than
        one partition more than another.
        """
        deadline = time.monotonic() + SETTLE_SECONDS
        before, since = [member.held for member in members], time.monotonic()
        while time.monotonic() < deadline:
            time.sleep(0.05)
            now = [member.held for member in members]
            if now != before or not self._is_even(now):
                before, since = now, time.monotonic()
            if time.monotonic() - since > AT_REST:
                return
            for member in members:
                if member.error is not None:
                    raise member.error
        raise AssertionError(f"no rest in {SETTLE_SECONDS} s: {before}")

    def wait_for_rebalance(self) -> None:
        """Wait until the broker waits for members to join."""
        self._wait_for("PreparingRebalance")

    def wait_until_empty(self) -> None:
        """Wait until the broker knows that all members have left."""
        self._wait_for("Empty")

    def _wait_for(self, state: str) -> None:
        deadline = time.monotonic() + SETTLE_SECONDS
        admin = KafkaAdminClient(bootstrap_servers=self.broker.address)
        try:
            while time.monotonic() < deadline:
                described = admin.describe_groups([self.group])[self.group]
                if described["group_state"] == state:
                    return
                time.sleep(0.05)
        finally:
            admin.close()
        raise AssertionError(f"not {state} in {SETTLE_SECONDS} s")

    def _is_even(self, now: Sequence[Held]) -> bool:
        loads = sorted(map(len, now))
        is_whole = set().union(*now) == self.partitions
        once = sum(loads) == len(self.partitions)
        return is_whole and once and loads[-1] - loads[0] <= len(self.topics)

    def generations(self) -> list[GroupMetadata]:
        """Return all generations of the group that had members."""
        found = []
        for _, key, value in log_of_groups(self.broker):
            record = decode_record(key, value)
            if (
                isinstance(record, GroupMetadata)
                and record.group_id == self.group
                and record.members
            ):
                found.append(record)
        return found


def _listen(process: subprocess.Popen[bytes], member: Member) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        said = json.loads(line)
        named = {(t, n) for t, ns in said.get("partitions", {}).items() for n in ns}
        if said["event"] == "assign":
            member.held |= named
        else:
            member.held -= named


def log_of_groups(broker: Broker) -> Iterator[tuple[int, bytes, bytes | None]]:
    """Read offsets, keys, and values of the broker's log of groups to its end."""
    place = TopicPartition("__consumer_offsets", 0)
    consumer = KafkaConsumer(
        bootstrap_servers=broker.address,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    try:
        consumer.assign([place])
        end = consumer.end_offsets([place])[place]
        while consumer.position(place) < end:
            for batch in consumer.poll(timeout_ms=500).values():
                yield from (
                    (record.offset, record.key, record.value) for record in batch
                )
    finally:
        consumer.close()
