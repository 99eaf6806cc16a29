"""Subjects of ``conform``: an external command, and registered clients."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import typer

from conformance.clients import (
    ClientAssignor,
    MissingClientError,
    Patience,
    UnknownClientError,
    matching_client_assignors,
)
from conformance.runs import (
    External,
    Repeating,
    UnknownFamilyError,
    check_family,
    external_client,
    external_command,
)
from oracle.cli.options.conform import ConformOptions
from oracle.cli.options.fuzz import FuzzOptions
from oracle.cli.printing.terminal import say

PATIENCE: Final = Patience()
"""When a missing answer is a hang."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested:
    """A program to test.

    Attributes
    ----------
    cooperative : bool
        Whether it is played in cooperative rounds.
    deterministic : bool
        Whether it is declared deterministic.
    repeats : bool
        Whether answers are compared with those of other processes.
    """

    external: External
    cooperative: bool
    deterministic: bool = False
    repeats: bool = False

    @property
    def source(self) -> External | Repeating:
        """Source from which the subject is started."""
        if self.repeats:
            return Repeating(source=self.external)
        return self.external

    def stated(self, options: ConformOptions | FuzzOptions) -> Tested:
        """Return the same as the options state it, repeated if it can be."""
        client, declared = self.external.client, options.deterministic
        known = client is not None and client.deterministic
        patience = replace(PATIENCE, is_patient=options.patient)
        return replace(
            self,
            external=replace(self.external, patience=patience),
            deterministic=known if declared is None else declared,
            repeats=options.repeat and self.external.can_repeat,
        )

    @property
    def name(self) -> str:
        """Name of the subject."""
        return self.external.program.name

    def say_not_repeated(self) -> None:
        """State why its answers are not compared with those of other processes."""
        say(f"not repeated: {self.name}: over the wire, each rebalance is sent once")


@dataclass(frozen=True, slots=True, kw_only=True)
class Absent:
    """A client that is registered, but cannot be tested on this machine."""

    name: str
    reason: str


def check_families(names: Sequence[str], *, seed: int, first: int = 0) -> None:
    """Check the names of families of random rebalances.

    Raises
    ------
    typer.BadParameter
        If there is no such family, module, or function; the message lists the families
        that exist.
    OwnDrawError
        If the first draw of a user's own family fails, or cannot be repeated.
    """
    for name in names:
        try:
            check_family(name, seed=seed, index=first)
        except UnknownFamilyError as error:
            raise typer.BadParameter(str(error)) from error.__cause__


def tested_subjects(options: ConformOptions) -> list[Tested | Absent]:
    """Return the subjects that options name, the command first.

    Raises
    ------
    typer.BadParameter
        If a client is unknown.
    OutsideError
        If there is no such program.
    """
    limits: dict[str, Any] = {"seconds": options.seconds, "memory": options.memory}
    found: list[Tested | Absent] = []
    if options.command is not None:
        external = external_command(options.command, **limits)
        is_cooperative = bool(options.cooperative)
        found.append(Tested(external=external, cooperative=is_cooperative))
    for spec in options.client or ():
        found += of_client(spec, **limits)
    return [
        subject.stated(options) if isinstance(subject, Tested) else subject
        for subject in found
    ]


def of_client(
    spec: str,
    *,
    seconds: float,
    memory: int,
    wire: bool = False,
    settles: bool = False,
) -> Iterator[Tested | Absent]:
    """Yield the subjects of a specification: without an assignor, all of that version.

    ``wire`` tests the client's consumer even if it has an adapter; only on the wire can
    generations settle.

    Raises
    ------
    typer.BadParameter
        If the registry has no such client, version, or assignor; if ``wire`` and there
        is no consumer for it; or if ``settles`` without a wire.
    """
    try:
        assignors = matching_client_assignors(spec)
    except UnknownClientError as error:
        raise typer.BadParameter(str(error)) from None
    if settles and not (wire or all(assignor.kind == "wire" for assignor in assignors)):
        raise typer.BadParameter("--settles needs --wire")
    limits: dict[str, Any] = {"seconds": seconds, "memory": memory}
    for assignor in assignors:
        over_the_wire = wire or assignor.kind == "wire"
        try:
            external = (
                _consumer(assignor, **limits, settles=settles)
                if over_the_wire
                else external_client(assignor, **limits)
            )
        except (MissingClientError, UnknownClientError) as error:
            if wire and isinstance(error, UnknownClientError):
                raise typer.BadParameter(str(error)) from None
            yield Absent(name=assignor.spec, reason=str(error))
        else:
            yield Tested(external=external, cooperative=assignor.cooperative)


def _consumer(
    assignor: ClientAssignor, *, seconds: float, memory: int, settles: bool
) -> External:
    """Return the client's consumer behind the wire."""
    from conformance.wire import wired_client

    return wired_client(assignor, seconds=seconds, memory=memory, settles=settles)
