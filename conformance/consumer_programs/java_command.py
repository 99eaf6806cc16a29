"""Commands of the program of kafka-clients' consumers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from conformance.clients.kafka_clients import NEWEST, ReleaseLine, install
from conformance.consumer_programs.requested_consumer import Property, RequestedConsumer

ASSIGNORS: Final = {
    "range": "RangeAssignor",
    "roundrobin": "RoundRobinAssignor",
    "sticky": "StickyAssignor",
    "cooperative-sticky": "CooperativeStickyAssignor",
}
"""Classes of ``org.apache.kafka.clients.consumer`` by the names of their protocols."""
_FRUGAL: Final = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Members(ReleaseLine):
    """The program of several consumers, from the jars of a Kafka line."""

    @property
    def sources(self) -> tuple[str, ...]:
        """The file to compile."""
        return ("Members.java",)


def java_consumer(
    requested: RequestedConsumer, *, line: ReleaseLine = NEWEST, memory_mb: int = 256
) -> tuple[str, ...]:
    """Return the command of a process with consumers of kafka-clients.

    Without assignors, they use the new protocol (KIP-848).

    Parameters
    ----------
    requested : RequestedConsumer
        Its assignors are names in `ASSIGNORS`.
    line : ReleaseLine
        Release of kafka-clients.
    memory_mb : int
        Limit of the heap.

    Raises
    ------
    ValueError
        If Java has no such protocol.
    OutsideError
        If the program cannot be compiled, or its jars cannot be fetched.
    """
    requested = replace(
        requested, settings=_protocol(requested) | dict(requested.settings)
    )
    ready = install(_Members(version=line.version, jars=line.jars, assignors=()))
    path = ":".join(map(str, ready.class_path))
    java = (str(ready.java), f"-Xmx{memory_mb}m", *_FRUGAL, "-cp", path)
    return (*java, "Members", requested.argument())


def _protocol(requested: RequestedConsumer) -> dict[str, Property]:
    """Return the properties of the protocol, in the new one with its assignor, if any.

    Without assignors, it is the new one.
    """
    names = [str(name) for name in requested.assignors]
    if not names or requested.settings.get("group.protocol") == "consumer":
        assigning = {"group.remote.assignor": names[0]} if names else {}
        return {"group.protocol": "consumer", **assigning}
    for name in names:
        if name not in ASSIGNORS:
            known = ", ".join(ASSIGNORS)
            raise ValueError(f"no protocol {name!r} in Java; there are: {known}")
    classes = [f"org.apache.kafka.clients.consumer.{ASSIGNORS[n]}" for n in names]
    return {
        "group.protocol": "classic",
        "partition.assignment.strategy": ",".join(classes),
    }
