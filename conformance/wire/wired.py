"""Consumers behind the wire as programs of a differential run."""

from __future__ import annotations

import shlex
import shutil
from dataclasses import dataclass, replace

from conformance.clients import (
    Answer,
    ClientAssignor,
    Patience,
    Program,
    suspecting,
)
from conformance.runs import MEMORY, External, Subject
from conformance.wire.consumers import WireConsumer
from conformance.wire.dialects import Dialect
from conformance.wire.leader import Wire
from conformance.wire.registered import wire_consumer
from rebalance import OutsideError

OUTSIDE_SECONDS = 600.0
"""How long a run waits for an outside consumer to join, again and again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WiredProgram(External):
    """A consumer's program; each worker starts its own, with its own coordinator."""

    consumer: WireConsumer

    @property
    def can_repeat(self) -> bool:
        """Return False: a consumer is one process, and takes long to start."""
        return False

    def start(self) -> Subject:
        """Return the wire; the consumer starts with the first rebalance."""
        return self._wire(self.seconds, self.patience)

    def start_impatient(self, seconds: float) -> Subject:
        """Return the wire with a shorter limit, which excludes the start anyway."""
        shorter = min(seconds, self.seconds)
        return self._wire(shorter, suspecting(shorter))

    def _wire(self, seconds: float, patience: Patience) -> Wire:
        limited = replace(self.consumer, argv=self._limited().argv)
        wire = Wire(limited, seconds=seconds)
        wire.patience = patience
        return wire


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideConsumer(External):
    """The consumer that connects to a wire of this process, for one worker."""

    wire: Wire

    @property
    def can_repeat(self) -> bool:
        """Return False: a consumer is one process, and takes long to start."""
        return False

    def start(self) -> Subject:
        """Return the wire, which stays open between subjects."""
        return _Kept(wire=self.wire, seconds=self.seconds, patience=self.patience)

    def start_impatient(self, seconds: float) -> Subject:
        """Return the wire with a shorter limit."""
        shorter = min(seconds, self.seconds)
        patience = suspecting(shorter)
        return _Kept(wire=self.wire, seconds=shorter, patience=patience)


@dataclass(slots=True, kw_only=True)
class _Kept:
    wire: Wire
    seconds: float
    patience: Patience

    @property
    def name(self) -> str:
        return self.wire.name

    def answer(self, rebalance: bytes) -> Answer:
        self.wire.seconds, self.wire.patience = self.seconds, self.patience
        return self.wire.answer(rebalance)

    def cut(self) -> None:
        self.wire.cut()

    def close(self) -> None:
        """Keep the connection of the consumer."""


def wired_client(
    client: ClientAssignor,
    *,
    seconds: float,
    memory: int | None = MEMORY,
    settles: bool = False,
) -> WiredProgram:
    """Return a registered client's consumer behind the wire.

    ``settles`` lets each generation settle (`WireConsumer.settles`).

    Raises
    ------
    MissingClientError
        If it is not installed on this machine.
    UnknownClientError
        If there is no program for this client on the wire.
    """
    consumer = wire_consumer(client)
    consumer = replace(consumer, settles=settles or consumer.settles)
    return WiredProgram(
        program=Program(name=consumer.name, argv=consumer.argv),
        seconds=seconds,
        memory=memory,
        client=client,
        option=f"{_option(settles)} --client {client.spec}",
        consumer=consumer,
    )


def wired_command(
    command: str,
    *,
    seconds: float,
    memory: int | None = MEMORY,
    settles: bool = False,
) -> WiredProgram:
    """Return a consumer's program behind the wire; see `WireConsumer.argv`.

    Raises
    ------
    OutsideError
        If there is no such program.
    """
    try:
        argv = tuple(shlex.split(command))
    except ValueError as error:
        raise OutsideError(f"command {command!r}: {error}") from None
    if not argv or shutil.which(argv[0]) is None:
        raise OutsideError(f"command {command!r}: no such program")
    return WiredProgram(
        program=Program(name=command, argv=argv),
        seconds=seconds,
        memory=memory,
        option=f"{_option(settles)} --command {shlex.quote(command)}",
        consumer=WireConsumer(name=command, argv=argv, settles=settles),
    )


def outside_consumer(
    *, seconds: float, dialect: Dialect | None = None, settles: bool = False
) -> OutsideConsumer:
    """Return the wire for a consumer that the user starts."""
    return OutsideConsumer(
        program=Program(name="wire", argv=()),
        seconds=seconds,
        option=_option(settles),
        wire=Wire(
            seconds=seconds,
            start_seconds=OUTSIDE_SECONDS,
            dialect=dialect,
            settles=settles,
        ),
    )


def _option(settles: bool) -> str:
    return "--wire --settles" if settles else "--wire"
