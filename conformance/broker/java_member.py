"""A kafka-clients consumer as a process, in a group until its input ends."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from conformance.clients.kafka_clients import NEWEST, Line, install

ASSIGNORS: Final = {
    "range": "RangeAssignor",
    "roundrobin": "RoundRobinAssignor",
    "sticky": "StickyAssignor",
    "cooperative-sticky": "CooperativeStickyAssignor",
}
"""Classes of ``org.apache.kafka.clients.consumer`` by the names of their protocols."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Member(Line):
    """The program of one consumer, from the jars of a Kafka line."""

    @property
    def sources(self) -> tuple[str, ...]:
        """The file to compile."""
        return ("Member.java",)


def java_member(
    address: str,
    group: str,
    assignors: Sequence[str],
    topics: Sequence[str],
    *,
    instance_id: str | None = None,
    settings: Mapping[str, str] | None = None,
    line: Line = NEWEST,
) -> tuple[str, ...]:
    """Return the command of a member; ``Member.java`` documents its output.

    Parameters
    ----------
    address : str
        Address of the broker.
    group : str
    assignors : sequence of str
        Protocols in `ASSIGNORS`, in the order of preference; none in the new protocol
        (KIP-848), where the broker assigns.
    topics : sequence of str
    instance_id : str or None
        Instance id of a static member (KIP-345).
    settings : mapping or None
        Properties of the consumer instead of, or besides, the ones set here.
    line : Line
        Release of kafka-clients.

    Raises
    ------
    ValueError
        If Java has no such protocol.
    OutsideError
        If it cannot be compiled, or its jars cannot be fetched.
    """
    for name in assignors:
        if name not in ASSIGNORS:
            known = ", ".join(ASSIGNORS)
            raise ValueError(f"no protocol {name!r} in Java; there are: {known}")
    ready = install(_Member(version=line.version, jars=line.jars, assignors=()))
    path = ":".join(map(str, ready.class_path))
    frugal = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
    properties = {"bootstrap.servers": address, "group.id": group}
    properties |= _classic(assignors) if assignors else {"group.protocol": "consumer"}
    properties |= {"enable.auto.commit": "false"}
    if instance_id is not None:
        properties["group.instance.id"] = instance_id
    argument = {"settings": properties | dict(settings or {}), "topics": list(topics)}
    return (str(ready.java), *frugal, "-cp", path, "Member", json.dumps(argument))


def _classic(assignors: Sequence[str]) -> dict[str, str]:
    classes = [f"org.apache.kafka.clients.consumer.{ASSIGNORS[a]}" for a in assignors]
    return {
        "group.protocol": "classic",
        "partition.assignment.strategy": ",".join(classes),
        "session.timeout.ms": "10000",
        "heartbeat.interval.ms": "200",
    }
