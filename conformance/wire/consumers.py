"""Consumers under test, as programs that connect to an address.

A program joins the group, polls, and ends when its input ends. If the client raises an
error, the program ends with an exit code that it declares, by default 70
(``EX_SOFTWARE``), which distinguishes an error from a crash; the error is the last line
of its output that is not indented.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from conformance.clients.kafka_clients import NEWEST, Line
from conformance.consumer_programs import (
    Property,
    RequestedConsumer,
    java_consumer,
    python_consumer,
)
from conformance.wire.catalog import BASE_TOPIC
from conformance.wire.dialects import DIALECTS, Dialect

RAISED: Final = 70  # EX_SOFTWARE of sysexits.h
"""Exit code of every program after an error of its client."""


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


def kafka_clients(assignor: str, *, line: Line = NEWEST) -> WireConsumer:
    """Return kafka-clients' consumer, by default of the newest release that is pinned.

    Assignors: ``range``, ``roundrobin``, ``sticky``, ``cooperative-sticky``.

    Raises
    ------
    OutsideError
        If it cannot be compiled, or its jars cannot be fetched.
    """
    requested = _requested(
        ["{topic}"], {"session.timeout.ms": 10_000, "retry.backoff.ms": 1}, [assignor]
    )
    return WireConsumer(
        name=f"kafka-clients/{assignor}",
        argv=java_consumer(requested, line=line),
        assignor=assignor,
        dialect=DIALECTS["kafka-clients"],
    )


def librdkafka(assignor: str) -> WireConsumer:
    """Return librdkafka's consumer through confluent-kafka.

    Assignors: ``range``, ``roundrobin``, ``cooperative-sticky``.
    """
    settings: dict[str, Property] = {
        "retry.backoff.ms": 1,
        "retry.backoff.max.ms": 10,
        "topic.metadata.refresh.fast.interval.ms": 10,
    }
    consumer = _of_python("librdkafka", assignor, _requested(["{topic}"], settings))
    return replace(consumer, rehearses=False)  # it assigns in the metadata's response


def kafka_python(assignor: str, *, python: str = sys.executable) -> WireConsumer:
    """Return kafka-python's consumer.

    It subscribes to all topics whose names begin with the topic's first letter: this
    client's leader assigns with the partitions of all topics that it knows, and so
    knows only those of the instance.

    Assignors: ``range``, ``roundrobin``, ``sticky``, ``cooperative-sticky``.
    """
    requested = _requested([f"^{BASE_TOPIC[0]}"], {"retry.backoff.ms": 1})
    return _of_python("kafka-python", assignor, requested, python)


def aiokafka(assignor: str, *, python: str = sys.executable) -> WireConsumer:
    """Return aiokafka's consumer; assignors ``range``, ``roundrobin``, ``sticky``."""
    requested = _requested(["{topic}"], {"retry.backoff.ms": 1})
    return _of_python("aiokafka", assignor, requested, python)


def _requested(
    topics: Sequence[str],
    settings: dict[str, Property],
    assignors: Sequence[str] = ("{assignor}",),
) -> RequestedConsumer:
    """Return a consumer that notices a rebalance soon, and reports nothing."""
    common: dict[str, Property] = {
        "bootstrap.servers": "{address}",
        "group.id": "{group}",
        "enable.auto.commit": False,
        "heartbeat.interval.ms": 100,
    }
    return RequestedConsumer(
        settings=common | settings, assignors=assignors, topics=topics, reports=False
    )


def _of_python(
    client: str,
    assignor: str,
    requested: RequestedConsumer,
    python: str = sys.executable,
) -> WireConsumer:
    return WireConsumer(
        name=f"{client}/{assignor}",
        argv=python_consumer(client, requested, python=python),
        assignor=assignor,
        dialect=DIALECTS[client],
    )
