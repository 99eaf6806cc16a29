"""Consumers of the clients in the registry, by their specification."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from conformance.clients import (
    LINES,
    ClientAssignor,
    MissingClientError,
    UnknownClientError,
)
from conformance.wire.consumers import (
    WireConsumer,
    aiokafka,
    kafka_clients,
    kafka_python,
    librdkafka,
)
from conformance.wire.dialects import DIALECTS, Dialect

UNPREFIXED = Dialect(cooperative="none")  # sticky's user data until kafka-python 3
OWNED_ONLY = Dialect(cooperative="none")  # of a client that has no dialect here
OF_GO = frozenset({"franz-go", "kafka-go", "sarama"})
ADDRESS = ("{address}", "{group}", "{topic}", "{assignor}")


def wire_consumer(client: ClientAssignor) -> WireConsumer:
    """Return the consumer of a registered client.

    The version of librdkafka is that of confluent-kafka, which brings it.

    Raises
    ------
    MissingClientError
        If the client is not installed on this machine.
    UnknownClientError
        If there is no program for this client on the wire.
    """
    name, assignor = client.client, client.assignor
    if name == "librdkafka":
        if client.version != version("confluent-kafka"):
            raise MissingClientError(name, client.version)
        consumer = librdkafka(assignor)
    elif name == "kafka-clients":
        client.program()  # raises if the jars are not here: nothing is fetched now
        consumer = kafka_clients(assignor, line=LINES[client.version])
    elif name in OF_GO:
        consumer = of_go(name, client.program().argv[0], assignor)
    elif name in {"kafka-python", "aiokafka"}:
        python = next(word for word in client.program().argv if "/bin/python" in word)
        of_python = kafka_python if name == "kafka-python" else aiokafka
        consumer = of_python(assignor, python=python)
        consumer = replace(consumer, dialect=dialect_of(client))
    elif name == "kafkajs":
        consumer = kafkajs(client.program().argv)
    elif name == "platformatic-kafka":
        consumer = platformatic_kafka(client.program().argv, assignor)
        consumer = replace(consumer, flexible=client.version.startswith("1."))
    else:
        raise UnknownClientError(f"{client.spec} has no consumer for the wire")
    return replace(consumer, name=client.spec)


def dialect_of(client: ClientAssignor) -> Dialect:
    """Return how the members of a client write their claims."""
    if client.client == "kafka-python" and client.version.startswith("2."):
        return UNPREFIXED
    return DIALECTS.get(client.client, OWNED_ONLY)


def kafkajs(adapter: tuple[str, ...]) -> WireConsumer:
    """Return kafkajs's consumer, which is next to its adapter."""
    node, program, _ = adapter
    consumer = str(Path(program).with_name("kafkajs_consumer.mjs"))
    return WireConsumer(
        name="kafkajs/roundrobin",
        argv=(node, consumer, "{address}", "{group}", "{topics}"),
        assignor="RoundRobinAssigner",
        dialect=DIALECTS["kafkajs"],
    )


def platformatic_kafka(adapter: tuple[str, ...], assignor: str) -> WireConsumer:
    """Return the consumer of @platformatic/kafka, which is next to its adapter.

    Releases before 2 have flexible versions only.
    """
    node, program, _ = adapter
    consumer = str(Path(program).with_name("platformatic_consumer.mjs"))
    return WireConsumer(
        name=f"platformatic-kafka/{assignor}",
        argv=(node, consumer, "{address}", "{group}", "{topics}", "{assignor}"),
        assignor=assignor,
        dialect=DIALECTS["platformatic-kafka"],
    )


def of_go(name: str, program: str, assignor: str) -> WireConsumer:
    """Return a consumer that its adapter's program has as a command.

    The leaders of these clients request the metadata of all topics of the group and
    wait for it before they assign.
    """
    return WireConsumer(
        name=f"{name}/{assignor}",
        argv=(program, "consume", *ADDRESS),
        assignor=assignor,
        dialect=DIALECTS[name],
        rehearses=False,
    )
