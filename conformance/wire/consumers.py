"""Consumers under test, as programs that connect to an address.

A program joins the group, polls, and ends when its input ends. If the client raises an
error, the program ends with an exit code that it declares, by default 70
(``EX_SOFTWARE``), which distinguishes an error from a crash; the error is the last line
of its output that is not indented.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from conformance.clients import ClientAssignor, UnknownClientError
from conformance.consumer_programs import (
    Property,
    RequestedConsumer,
    client_consumer,
    java_consumer,
    python_consumer,
)
from conformance.wire.catalog import BASE_TOPIC
from conformance.wire.dialects import DIALECTS, Dialect

UNPREFIXED: Final = Dialect(cooperative="none")
"""Of sticky's user data until kafka-python 3."""
OWNED_ONLY: Final = Dialect(cooperative="none")
"""Of a client that has no dialect here."""
RAISED: Final = 70  # EX_SOFTWARE of sysexits.h
"""Exit code of every program after an error of its client."""
_SETTINGS: Final[Mapping[str, dict[str, Property]]] = {
    "kafka-clients": {"session.timeout.ms": 10_000},
    "librdkafka": {
        "retry.backoff.max.ms": 10,
        "topic.metadata.refresh.fast.interval.ms": 10,
    },
    "franz-go": {"metadata.min.age.ms": 10},  # its option MetadataMinAge
}
_TOPICS: Final = {
    "kafka-python": f"^{BASE_TOPIC[0]}",
    "kafkajs": "{topics}",
    "platformatic-kafka": "{topics}",
}
_PROTOCOLS: Final = {"kafkajs": "RoundRobinAssigner"}
_WAITING: Final = frozenset({"librdkafka", "franz-go", "kafka-go", "sarama"})
"""Clients whose leader requests the metadata of all topics of the group, and waits for
it before it assigns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WireConsumer:
    """A consumer's program.

    Attributes
    ----------
    name : str
        Name in tables and records, such as ``librdkafka@2.16.1/range``.
    argv : tuple of str
        Command; ``{address}``, ``{group}``, ``{topic}``, and ``{assignor}`` are
        replaced in each argument. With ``{topics}``, the program is started for each
        instance, with the topics of the instance's first member: the leader of some
        clients assigns only the topics that it subscribes to itself.
    assignor : str
        The assignor's name in the group protocol; empty: the first that is offered.
    dialect : Dialect
        How the client's members write their claims.
    flexible : bool
        Whether the client needs flexible versions.
    settles : bool
        Whether the client only joins again after a stable generation: SyncGroup then
        succeeds without partitions, and the next heartbeat asks it to join again.
    rehearses : bool
        Whether the client's leader can assign before it has the metadata that it has
        requested. Each instance then takes two generations.
    """

    name: str
    argv: tuple[str, ...]
    assignor: str = ""
    dialect: Dialect = field(default_factory=Dialect)
    flexible: bool = False
    settles: bool = False
    rehearses: bool = True

    @property
    def is_started_anew(self) -> bool:
        """Return whether the program is started for each instance."""
        return any("{topics}" in argument for argument in self.argv)

    def command(
        self, address: str, group: str, topic: str, topics: Sequence[str] = ()
    ) -> tuple[str, ...]:
        """Return the command with its placeholders replaced."""
        values = {
            "{address}": address,
            "{group}": group,
            "{topic}": topic,
            "{topics}": ",".join(topics),
            "{assignor}": self.assignor,
        }
        return tuple(_replaced(argument, values) for argument in self.argv)


def _replaced(argument: str, values: dict[str, str]) -> str:
    for placeholder, value in values.items():
        argument = argument.replace(placeholder, value)
    return argument


def error_in(said: str) -> str:
    """Return the last line that is not indented, as in a Python or Java stack trace."""
    lines = [line for line in said.splitlines() if line[:1].strip()]
    return lines[-1] if lines else "no reason"


def kafka_clients(assignor: str) -> WireConsumer:
    """Return kafka-clients' consumer, of the newest release that is pinned.

    Assignors: ``range``, ``roundrobin``, ``sticky``, ``cooperative-sticky``.

    Raises
    ------
    OutsideError
        If it cannot be compiled, or its jars cannot be fetched.
    """
    argv = java_consumer(_requested("kafka-clients", assignor))
    return _consumer("kafka-clients", argv, assignor)


def librdkafka(assignor: str) -> WireConsumer:
    """Return librdkafka's consumer through confluent-kafka.

    Assignors: ``range``, ``roundrobin``, ``cooperative-sticky``.
    """
    return _of_this_environment("librdkafka", assignor)


def kafka_python(assignor: str) -> WireConsumer:
    """Return the consumer of the kafka-python that is installed here.

    Assignors: ``range``, ``roundrobin``, ``sticky``, ``cooperative-sticky``.
    """
    return _of_this_environment("kafka-python", assignor)


def aiokafka(assignor: str) -> WireConsumer:
    """Return the consumer of the aiokafka that is installed here.

    Assignors: ``range``, ``roundrobin``, ``sticky``.
    """
    return _of_this_environment("aiokafka", assignor)


def wire_consumer(client: ClientAssignor) -> WireConsumer:
    """Return the consumer of a registered client, by its specification.

    The version of librdkafka is that of confluent-kafka, which brings it. Releases of
    @platformatic/kafka before 2 have flexible versions only.

    Raises
    ------
    MissingClientError
        If the client is not installed on this machine.
    UnknownClientError
        If no program runs this client on the wire.
    """
    if client.client not in DIALECTS:
        raise UnknownClientError(f"{client.spec} has no consumer for the wire")
    argv = client_consumer(client, _requested(client.client, client.assignor))
    is_flexible = client.client == "platformatic-kafka" and client.version[:2] == "1."
    return replace(
        _consumer(client.client, argv, client.assignor),
        name=client.spec,
        dialect=dialect_of(client),
        flexible=is_flexible,
    )


def dialect_of(client: ClientAssignor) -> Dialect:
    """Return how the members of a client write their claims."""
    if client.client == "kafka-python" and client.version.startswith("2."):
        return UNPREFIXED
    return DIALECTS.get(client.client, OWNED_ONLY)


def _of_this_environment(client: str, assignor: str) -> WireConsumer:
    argv = python_consumer(client, _requested(client, assignor))
    return _consumer(client, argv, assignor)


def _consumer(client: str, argv: tuple[str, ...], assignor: str) -> WireConsumer:
    return WireConsumer(
        name=f"{client}/{assignor}",
        argv=argv,
        assignor=_PROTOCOLS.get(client, assignor),
        dialect=DIALECTS[client],
        rehearses=client not in _WAITING,
    )


def _requested(client: str, assignor: str) -> RequestedConsumer:
    """Return a consumer that notices a rebalance soon, and reports nothing.

    kafka-python's subscribes to all topics whose names begin with the topic's first
    letter: this client's leader assigns with the partitions of all topics that it
    knows, and so knows only those of the instance. The leaders of clients in JavaScript
    assign only the topics that they subscribe to themselves.
    """
    common: dict[str, Property] = {
        "bootstrap.servers": "{address}",
        "group.id": "{group}",
        "enable.auto.commit": False,
        "heartbeat.interval.ms": 100,
        "retry.backoff.ms": 1,
    }
    return RequestedConsumer(
        settings=common | _SETTINGS.get(client, {}),
        assignors=[assignor],
        topics=[_TOPICS.get(client, "{topic}")],
        reports=False,
    )
