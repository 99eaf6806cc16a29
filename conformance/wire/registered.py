"""Consumers of the clients in the registry, by their specification."""

from __future__ import annotations

from dataclasses import replace

from conformance.clients import ClientAssignor, UnknownClientError
from conformance.consumer_programs import client_consumer
from conformance.wire.consumers import WireConsumer, requested_of, wire_consumer_of
from conformance.wire.dialects import DIALECTS, Dialect

UNPREFIXED = Dialect(cooperative="none")  # sticky's user data until kafka-python 3
OWNED_ONLY = Dialect(cooperative="none")  # of a client that has no dialect here


def wire_consumer(client: ClientAssignor) -> WireConsumer:
    """Return the consumer of a registered client.

    The version of librdkafka is that of confluent-kafka, which brings it. Releases of
    @platformatic/kafka before 2 have flexible versions only.

    Raises
    ------
    MissingClientError
        If the client is not installed on this machine.
    UnknownClientError
        If there is no program for this client on the wire.
    """
    if client.client not in DIALECTS:
        raise UnknownClientError(f"{client.spec} has no consumer for the wire")
    requested = requested_of(client.client, client.assignor)
    argv = client_consumer(client, requested)
    consumer = wire_consumer_of(client.client, argv, client.assignor)
    is_flexible = client.client == "platformatic-kafka" and client.version[:2] == "1."
    return replace(
        consumer, name=client.spec, dialect=dialect_of(client), flexible=is_flexible
    )


def dialect_of(client: ClientAssignor) -> Dialect:
    """Return how the members of a client write their claims."""
    if client.client == "kafka-python" and client.version.startswith("2."):
        return UNPREFIXED
    return DIALECTS.get(client.client, OWNED_ONLY)
