"""Commands of consumers: of clients in Python, and of all that are registered."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path
from typing import Final

from conformance.clients import (
    LINES,
    ClientAssignor,
    MissingClientError,
    UnknownClientError,
)
from conformance.consumer_programs.java_command import java_consumer
from conformance.consumer_programs.requested_consumer import RequestedConsumer

PROGRAMS: Final = Path(__file__).parent / "python-programs"


def python_consumer(
    client: str, requested: RequestedConsumer, *, python: str = sys.executable
) -> tuple[str, ...]:
    """Return the command of a consumer of kafka-python, aiokafka, or librdkafka.

    ``python`` is an interpreter that has the client's package.
    """
    program = PROGRAMS / f"{client.replace('-', '_')}_consumer.py"
    return (python, str(program), requested.argument())


def client_consumer(
    client: ClientAssignor, requested: RequestedConsumer, *, memory_mb: int = 256
) -> tuple[str, ...]:
    """Return the command of a registered client's consumer.

    The programs in Go are those of the adapters, and those in JavaScript are next to
    them. The version of librdkafka is that of confluent-kafka, which brings it.
    ``memory_mb`` limits the heap of a program in Java.

    Raises
    ------
    MissingClientError
        If the client is not installed on this machine.
    UnknownClientError
        If the client has no consumer.
    OutsideError
        If a program in Java cannot be compiled.
    """
    if client.client == "group-coordinator":
        raise UnknownClientError(f"{client.spec} has no consumer")
    if client.client == "librdkafka":
        if client.version != version("confluent-kafka"):
            raise MissingClientError(client.client, client.version)
        return python_consumer("librdkafka", requested)
    argv = client.program().argv  # raises if it is not here: nothing is fetched now
    match client.language:
        case "Java":
            line = LINES[client.version]
            return java_consumer(requested, line=line, memory_mb=memory_mb)
        case "Go":
            return (argv[0], "consume", requested.argument())
        case "JavaScript":
            node, adapter, _ = argv
            consumer = adapter.replace("_adapter.", "_consumer.")
            return (node, consumer, requested.argument())
        case _:
            python = next(word for word in argv if "/bin/python" in word)
            program = python_consumer(client.client, requested, python=python)
            return ("/usr/bin/env", "-u", "PYTHONPATH", *program)
