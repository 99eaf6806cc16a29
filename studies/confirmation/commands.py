"""Commands of the programs whose members follow orders, per client."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from conformance.clients import ClientAssignor, UnknownClientError
from conformance.consumer_programs import Property, RequestedConsumer, client_consumer

AIOKAFKA_HEARTBEAT_MS: Final = 3_000
"""Its members cannot be paused. By their next heartbeat, after which they join again,
all have their new subscriptions."""
KAFKA_PYTHON_POLL_MS: Final = 500
_SEVERAL: Final = frozenset({"franz-go", "kafka-clients", "sarama"})
"""Clients whose program has several members in one process."""
_WITHOUT_MEMBERS: Final = frozenset(
    {"group-coordinator", "kafka-go", "kafkajs", "platformatic-kafka"}
)
"""Those whose program does not follow orders."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberCommand:
    """A command, and whether its process has all members of the client."""

    argv: tuple[str, ...]
    has_all: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Time in which a group notices the end of a member, ms.

    Attributes
    ----------
    session : int
        How long the broker waits for a heartbeat.
    join : int
        How long it waits for members to join again (``max.poll.interval.ms``).
    heartbeat : int
        Time between heartbeats. aiokafka's members have a longer one of their own.
    refresh : int
        Time between two looks at the topics that exist; of librdkafka, whose default is
        5 min.
    """

    session: int = 12_000
    join: int = 30_000
    heartbeat: int = 200
    refresh: int = 1_000


def member_command(
    client: ClientAssignor, address: str, group: str, pace: Pace
) -> MemberCommand:
    """Return the command of a client's members in a group.

    Raises
    ------
    MissingClientError
        If the client is not installed on this machine.
    UnknownClientError
        If there is no such program for the client.
    OutsideError
        If a program in Java cannot be compiled.
    """
    if client.client in _WITHOUT_MEMBERS:
        raise UnknownClientError(f"{client.spec} has no members for a real group")
    requested = RequestedConsumer(
        settings=_settings(client.client, address, group, pace),
        assignors=[client.assignor],
        poll_ms=KAFKA_PYTHON_POLL_MS if client.client == "kafka-python" else 100,
    )
    argv = client_consumer(client, requested, memory_mb=512)
    return MemberCommand(argv=argv, has_all=client.client in _SEVERAL)


def _settings(client: str, address: str, group: str, pace: Pace) -> dict[str, Property]:
    common: dict[str, Property] = {
        "bootstrap.servers": address,
        "group.id": group,
        "enable.auto.commit": False,
        "session.timeout.ms": pace.session,
        "heartbeat.interval.ms": pace.heartbeat,
        "max.poll.interval.ms": pace.join,
    }
    patient = pace.join + 10_000
    own: dict[str, dict[str, Property]] = {
        "kafka-python": {
            "request.timeout.ms": patient,
            "connections.max.idle.ms": 10 * pace.join + 10_000,
        },
        "aiokafka": {
            "heartbeat.interval.ms": AIOKAFKA_HEARTBEAT_MS,
            "rebalance.timeout.ms": pace.join,
            "request.timeout.ms": patient,
        },
        "librdkafka": {
            "topic.metadata.refresh.interval.ms": pace.refresh,
            "topic.metadata.propagation.max.ms": 1_000,  # the default is 30 s
        },
    }
    return common | own.get(client, {})


def ordered_topics(client: ClientAssignor, topics: Sequence[str]) -> list[str]:
    """Return the subscription that an order states: a pattern for kafka-python.

    A leader of this client assigns with the metadata that it has, and only with a
    pattern does it have that of all topics.
    """
    if client.client == "kafka-python":
        return [f"^({'|'.join(topics)})$"]
    return list(topics)
