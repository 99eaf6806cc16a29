"""Topics and groups of a broker, through librdkafka's Admin API."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from rebalance import OutsideError

SECONDS: Final = 20.0
LOOK_SECONDS: Final = 0.3

Held = dict[str, dict[str, list[int]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedGroup:
    """State of a group, as the broker reports it.

    Attributes
    ----------
    state : str
        ``STABLE``, ``PREPARING_REBALANCING``, ``COMPLETING_REBALANCING``, ...
    held : dict
        Partitions by topic per member, by client id; empty during a rebalance.
    """

    state: str
    held: Held

    @property
    def short(self) -> str:
        """State and number of members, for a sentence."""
        if self.state == "DEAD":
            return "does not exist"
        word = self.state.replace("REBALANCING", "REBALANCE").replace("_", " ").lower()
        return f"{word}, {len(self.held)} members"


class BrokerGroups:
    """The groups of one broker, or of librdkafka's mock cluster."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._admin = AdminClient({"bootstrap.servers": address, "log_level": 0})

    def create_topics(self, topics: Mapping[str, int]) -> None:
        """Create missing topics; sizes are partition counts.

        Raises
        ------
        OutsideError
            If a topic exists with another size, or cannot be created.
        """
        known = self._admin.list_topics(timeout=SECONDS).topics
        for topic, size in topics.items():
            if topic in known and len(known[topic].partitions) != size:
                raise OutsideError(f"topic {topic!r} exists with another size")
        new = [
            NewTopic(topic, num_partitions=size, replication_factor=1)
            for topic, size in topics.items()
            if topic not in known
        ]
        if not new:
            return
        try:
            for created in self._admin.create_topics(new).values():
                created.result(SECONDS)
        except KafkaException as error:
            raise OutsideError(f"cannot create topics: {error}") from None

    def delete_topic(self, topic: str) -> None:
        """Delete a topic.

        Raises
        ------
        OutsideError
            If it cannot be deleted.
        """
        try:
            self._admin.delete_topics([topic])[topic].result(SECONDS)
        except KafkaException as error:
            raise OutsideError(f"cannot delete {topic!r}: {error}") from None

    def describe(self, group: str) -> ReportedGroup:
        """Return the state of a group; one that does not exist is ``DEAD``."""
        try:
            described = self._admin.describe_consumer_groups([group])[group]
            found = described.result(SECONDS)
        except TimeoutError:  # of a broker that is busy or has just started
            return ReportedGroup(state="UNKNOWN", held={})
        except KafkaException:
            return ReportedGroup(state="DEAD", held={})
        held = {
            member.client_id: _by_topic(member.assignment) for member in found.members
        }
        return ReportedGroup(state=found.state.name, held=held)

    def wait_for(
        self, group: str, is_reached: Callable[[ReportedGroup], bool], seconds: float
    ) -> ReportedGroup:
        """Wait until a state is reached, and seen three times in a row.

        Raises
        ------
        OutsideError
            If that takes too long; the message names the last state.
        """
        deadline, seen = time.monotonic() + seconds, 0
        while True:
            state = self.describe(group)
            seen = seen + 1 if is_reached(state) else 0
            if seen == 3:
                return state
            if time.monotonic() > deadline:
                raise OutsideError(f"group {group}: {state.short} in {seconds:g} s")
            time.sleep(LOOK_SECONDS)


def _by_topic(assignment: Any) -> dict[str, list[int]]:
    held: dict[str, list[int]] = {}
    if assignment is not None:
        for topic_partition in sorted(assignment.topic_partitions):
            held.setdefault(topic_partition.topic, []).append(topic_partition.partition)
    return held
