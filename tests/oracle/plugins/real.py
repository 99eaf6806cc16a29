"""Members of real groups: consumers' programs, and the broker's log.

A member with an ``instance_id`` is static (KIP-345): it leaves without a LeaveGroup.
The history of a group is read from the broker's log, ``__consumer_offsets``: leader,
protocol, and bytes of the members per generation.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kafka import KafkaConsumer, TopicPartition
from kafka.admin import KafkaAdminClient, NewTopic

from conformance.broker import Broker
from conformance.consumer_programs import (
    ConsumerProcess,
    Property,
    RequestedAssignor,
    RequestedConsumer,
    java_consumer,
    python_consumer,
)
from pipeline.records import GroupMetadata, decode_record

SETTLE_SECONDS = 40
AT_REST = 0.6  # seconds without a change; heartbeats are a third of that
HEARTBEAT = 200  # ms
SESSION = 30_000  # ms; a static member's program can take long to start again
POLL = 500  # ms
RACK = "r"
"""Of the broker that tests share."""

Held = frozenset[tuple[str, int]]


class Member(ConsumerProcess):
    """A consumer's program; ``held`` are the partitions that it has now."""

    def leave(self) -> None:
        """Let it close; it must end without an error."""
        self.order("leave")
        code = self.wait(20)
        cause = self.end()
        self.held = frozenset()
        assert code == 0, cause


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

    def kafka_python(
        self, *assignors: RequestedAssignor, instance_id: str | None = None
    ) -> Member:
        requested = replace(self._requested(assignors, instance_id), poll_ms=POLL)
        return Member(python_consumer("kafka-python", requested))

    def aiokafka(
        self, *assignors: RequestedAssignor, instance_id: str | None = None
    ) -> Member:
        requested = self._requested(assignors, instance_id)
        return Member(python_consumer("aiokafka", requested))

    def ours(
        self,
        client: str,
        algorithm: str,
        name: str | None = None,
        instance_id: str | None = None,
    ) -> Member:
        """Join with one of our assignors, in ``kafka_python`` or ``aiokafka``."""
        start = {"kafka_python": self.kafka_python, "aiokafka": self.aiokafka}[client]
        imported = f"oracle.plugins.{client}:assignor"
        assignor = {"import": imported, "call": {"algorithm": algorithm, "name": name}}
        return start(assignor, instance_id=instance_id)

    def librdkafka(self, *assignors: str) -> Member:
        return Member(python_consumer("librdkafka", self._requested(assignors)))

    def new_protocol(self, *topics: str) -> Member:
        """Join with ``group.protocol=consumer`` (KIP-848), in the broker's rack."""
        requested = RequestedConsumer(
            settings=self._settings
            | {"group.protocol": "consumer", "client.rack": RACK},
            topics=topics,
        )
        return Member(python_consumer("librdkafka", requested))

    def java(self, *assignors: str, instance_id: str | None = None) -> Member:
        return Member(java_consumer(self._requested(assignors, instance_id)))

    def java_with(self, setting: str) -> Member:
        """Join with a line of properties, which states the assignors."""
        requested = self._requested(["range"])  # the line replaces it
        settings = {**requested.settings, **properties_of(setting)}
        return Member(java_consumer(replace(requested, settings=settings)))

    def librdkafka_with(self, setting: str) -> Member:
        """Join with properties, one a line, of which one states the assignors."""
        stated = properties_of(setting)
        names = stated.get("partition.assignment.strategy")
        if names is not None:
            return self.librdkafka(*names.split(","))
        requested = RequestedConsumer(
            settings=self._settings | {"group.protocol": stated["group.protocol"]},
            assignors=[stated["group.remote.assignor"]],
            topics=list(self.topics),
            poll_ms=50,
        )
        return Member(python_consumer("librdkafka", requested))

    @property
    def _settings(self) -> dict[str, Property]:
        return {
            "bootstrap.servers": self.broker.address,
            "group.id": self.group,
            "enable.auto.commit": False,
        }

    def _requested(
        self, assignors: Sequence[RequestedAssignor], instance_id: str | None = None
    ) -> RequestedConsumer:
        settings = self._settings | {
            "heartbeat.interval.ms": HEARTBEAT,
            "session.timeout.ms": SESSION,
        }
        if instance_id is not None:
            settings["group.instance.id"] = instance_id
        return RequestedConsumer(
            settings=settings, assignors=assignors, topics=list(self.topics), poll_ms=50
        )

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
                assert not member.has_ended(), member.end()
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


def properties_of(text: str) -> dict[str, str]:
    """Return properties, one a line."""
    pairs = (line.partition("=") for line in text.splitlines())
    return {name: value for name, _, value in pairs}


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
