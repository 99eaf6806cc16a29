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
    elif name == "franz-go":
        adapter = client.program().argv
        consumer = franz_go(adapter[0], assignor)
    elif name in {"kafka-python", "aiokafka"}:
        python = next(word for word in client.program().argv if "/bin/python" in word)
        of_python = kafka_python if name == "kafka-python" else aiokafka
        consumer = of_python(assignor, python=python)
        consumer = replace(consumer, dialect=dialect_of(client))
    elif name == "kafkajs":
        consumer = kafkajs(client.program().argv)
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


def franz_go(program: str, assignor: str) -> WireConsumer:
    """Return franz-go's consumer, which its adapter's program has as a command."""
    return WireConsumer(
        name=f"franz-go/{assignor}",
        argv=(program, "consume", *ADDRESS),
        assignor=assignor,
        dialect=DIALECTS["franz-go"],
        rehearses=False,  # it requests the metadata of all topics and waits for it
    )
