"""Broker settings: one node, no replication, no initial rebalance delay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """How clients connect.

    Attributes
    ----------
    protocol : str
        Security protocol, such as ``SASL_SSL``.
    settings : dict
        Settings of the broker that it requires.
    scram : tuple of str
        Credentials, such as ``SCRAM-SHA-256=[name=a,password=b]``.
    """

    protocol: str = "PLAINTEXT"
    settings: Mapping[str, str] = field(default_factory=dict)
    scram: tuple[str, ...] = ()


PLAINTEXT: Final = Listener()
_SAME: Final = {
    "auto.create.topics.enable": "false",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "1000",
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.heartbeat.interval.ms": "300",  # the default is 5 s
    "group.consumer.min.session.timeout.ms": "1000",
    "group.consumer.session.timeout.ms": "6000",
    "log.cleaner.enable": "false",  # the default allocates 128 MB of buffers
}
"""Settings of every broker."""


def settings(
    folder: Path,
    port: int,
    control: int,
    *,
    rack: str | None,
    listener: Listener = PLAINTEXT,
) -> str:
    """Write the settings file of one node that is its own controller.

    Parameters
    ----------
    folder : Path
        Folder for the broker's data.
    port, control : int
        Ports of loopback for clients and for the controller.
    rack : str or None
        Rack of the broker.
    listener : Listener
    """
    name = listener.protocol
    properties = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@127.0.0.1:{control}",
        "controller.listener.names": "CONTROLLER",
        "listeners": f"{name}://127.0.0.1:{port},CONTROLLER://127.0.0.1:{control}",
        "advertised.listeners": f"{name}://127.0.0.1:{port}",
        "listener.security.protocol.map": f"{name}:{name},CONTROLLER:PLAINTEXT",
        "inter.broker.listener.name": name,
        "log.dirs": str(folder / "data"),
        **_SAME,
    }
    if rack is not None:
        properties["broker.rack"] = rack
    properties |= listener.settings
    return "".join(f"{key}={value}\n" for key, value in properties.items())
