"""Commands of the programs whose members follow orders, per client."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final

from conformance.broker import ASSIGNORS
from conformance.clients import (
    LINES,
    ClientAssignor,
    MissingClientError,
    UnknownClientError,
    install,
)
from conformance.clients.kafka_clients import Line

PROGRAMS: Final = Path(__file__).parent / "member-programs"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Members(Line):
    """The program of several consumers, from the jars of a Kafka line."""

    @property
    def sources(self) -> tuple[str, ...]:
        """The file to compile."""
        return ("Members.java",)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberCommand:
    """A command, and whether its process has all members of the client."""

    argv: tuple[str, ...]
    has_all: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How fast a group notices what happens to its members, ms.

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
    settings = {
        "address": address,
        "group": group,
        "assignor": client.assignor,
        "session_ms": pace.session,
        "join_ms": pace.join,
        "heartbeat_ms": pace.heartbeat,
        "refresh_ms": pace.refresh,
    }
    if client.client == "kafka-clients":
        argv = _java(client, address, group, pace)
        return MemberCommand(argv=argv, has_all=True)
    if client.client in {"franz-go", "sarama"}:
        argv = (client.program().argv[0], "follow", json.dumps(settings))
        return MemberCommand(argv=argv, has_all=True)
    if client.client in {"kafka-python", "aiokafka"}:
        python = next(word for word in client.program().argv if "/bin/python" in word)
        file = f"{client.client.replace('-', '_')}_member.py"
        command = ("/usr/bin/env", "-u", "PYTHONPATH", python, str(PROGRAMS / file))
        return MemberCommand(argv=(*command, json.dumps(settings)), has_all=False)
    if client.client == "librdkafka":
        if client.version != version("confluent-kafka"):
            raise MissingClientError(client.client, client.version)
        program = str(PROGRAMS / "librdkafka_member.py")
        argv = (sys.executable, program, json.dumps(settings))
        return MemberCommand(argv=argv, has_all=False)
    raise UnknownClientError(f"{client.spec} has no members for a real group")


def _java(
    client: ClientAssignor, address: str, group: str, pace: Pace
) -> tuple[str, ...]:
    client.program()  # raises if the jars are not here
    line = LINES[client.version]
    ready = install(_Members(version=line.version, jars=line.jars, assignors=()))
    frugal = ("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
    kind = f"org.apache.kafka.clients.consumer.{ASSIGNORS[client.assignor]}"
    settings = {
        "bootstrap.servers": address,
        "group.id": group,
        "partition.assignment.strategy": kind,
        "enable.auto.commit": "false",
        "session.timeout.ms": str(pace.session),
        "heartbeat.interval.ms": str(pace.heartbeat),
        "max.poll.interval.ms": str(pace.join),
        "group.protocol": "classic",
    }
    path = ":".join(map(str, ready.class_path))
    argument = json.dumps({"settings": settings})
    return (str(ready.java), *frugal, "-cp", path, "Members", argument)
