"""A kafka-clients consumer as a process, in a group until its input ends."""

from __future__ import annotations

from collections.abc import Sequence
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
) -> tuple[str, ...]:
    """Return the command of a member; ``Member.java`` documents its output.

    Parameters
    ----------
    address : str
        Address of the broker.
    group : str
    assignors : sequence of str
        Protocols in `ASSIGNORS`, in the order of preference.
    topics : sequence of str
    instance_id : str or None
        Instance id of a static member (KIP-345).

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
    line = _Member(version=NEWEST.version, jars=NEWEST.jars, assignors=())
    ready = install(line)
    path = ":".join(map(str, ready.class_path))
    classes = [f"org.apache.kafka.clients.consumer.{ASSIGNORS[a]}" for a in assignors]
    frugal = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
    told = (address, group, ",".join(classes), ",".join(topics))
    static = () if instance_id is None else (instance_id,)
    return (str(ready.java), *frugal, "-cp", path, "Member", *told, *static)
