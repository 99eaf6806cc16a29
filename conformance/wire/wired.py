"""Consumers behind the wire as programs of a differential run."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace

from conformance.clients import (
    Answer,
    ClientAssignor,
    Patience,
    Program,
    suspecting,
)
from conformance.runs import MEMORY, External, Subject, WrappedSubject, words_of
from conformance.wire.consumers import WireConsumer, wire_consumer
from conformance.wire.dialects import Dialect
from conformance.wire.tested_leader import Wire

OUTSIDE_SECONDS = 600.0
"""How long a run waits for an outside consumer to join, again and again."""


class _Consumer(External):
    """A consumer behind the wire."""

    __slots__ = ()

    @property
    def can_repeat(self) -> bool:
        """Return False: a consumer is one process, and takes long to start."""
        return False

    def start(self) -> Subject:
        """Return the wire."""
        return self._wire(self.seconds, self.patience)

    def start_impatient(self, seconds: float) -> Subject:
        """Return the wire with a shorter limit, which excludes the start anyway."""
        shorter = min(seconds, self.seconds)
        return self._wire(shorter, suspecting(shorter))

    def _wire(self, seconds: float, patience: Patience) -> Subject:
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class WiredProgram(_Consumer):
    """A consumer's program; each worker starts its own, with its own coordinator.

    The consumer starts with the first rebalance.
    """

    consumer: WireConsumer

    def _wire(self, seconds: float, patience: Patience) -> Subject:
        limited = replace(self.consumer, argv=self._limited().argv)
        wire = Wire(limited, seconds=seconds)
        wire.patience = patience
        return wire


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideConsumer(_Consumer):
    """The consumer that connects to a wire of this process, for one worker.

    The wire stays open between subjects.
    """

    wire: Wire

    def _wire(self, seconds: float, patience: Patience) -> Subject:
        return _Kept(subject=self.wire, seconds=seconds, patience=patience)


@dataclass(slots=True, kw_only=True, eq=False)
class _Kept(WrappedSubject[Wire]):
    seconds: float
    patience: Patience

    def answer(self, rebalance: bytes) -> Answer:
        self.subject.seconds, self.subject.patience = self.seconds, self.patience
        return self.subject.answer(rebalance)

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
        If no program runs this client on the wire.
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
    argv = words_of(command)
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
