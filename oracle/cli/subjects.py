"""Subjects of ``conform``: an external command, and registered clients."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import typer

from conformance.clients import (
    ClientAssignor,
    MissingClientError,
    UnknownClientError,
    matching_client_assignors,
)
from conformance.runs import External, external_client, external_command


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested:
    """A program to test, and whether it is played in cooperative rounds."""

    external: External
    cooperative: bool

    @property
    def name(self) -> str:
        """Name of the subject."""
        return self.external.program.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Absent:
    """A client that is registered, but cannot be tested on this machine."""

    name: str
    reason: str


def tested_subjects(
    command: str | None,
    clients: Sequence[str],
    *,
    cooperative: bool,
    seconds: float,
    memory: int,
) -> list[Tested | Absent]:
    """Return what the options name, the command first.

    Raises
    ------
    typer.BadParameter
        If a client is unknown.
    OutsideError
        If there is no such program.
    """
    found: list[Tested | Absent] = []
    if command is not None:
        external = external_command(command, seconds=seconds, memory=memory)
        found.append(Tested(external=external, cooperative=cooperative))
    for spec in clients:
        found += _of_client(spec, seconds, memory)
    return found


def _of_client(spec: str, seconds: float, memory: int) -> Iterator[Tested | Absent]:
    try:
        assignors = matching_client_assignors(spec)
    except UnknownClientError as error:
        raise typer.BadParameter(str(error)) from None
    for assignor in assignors:
        yield _assignor(assignor, seconds, memory)


def _assignor(assignor: ClientAssignor, seconds: float, memory: int) -> Tested | Absent:
    try:
        external = _client(assignor, seconds=seconds, memory=memory)
    except (MissingClientError, UnknownClientError) as error:
        return Absent(name=assignor.spec, reason=str(error))
    return Tested(external=external, cooperative=assignor.cooperative)


def _client(assignor: ClientAssignor, *, seconds: float, memory: int) -> External:
    """Return the client's adapter, or its consumer if it is tested over the wire."""
    if assignor.kind == "adapter":
        return external_client(assignor, seconds=seconds, memory=memory)
    from conformance.wire import wired_client

    return wired_client(assignor, seconds=seconds, memory=memory)
