"""Options of ``fuzz``: what they name, and what is to be drawn."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any, Final

import typer

from conformance.runs import (
    FAMILIES,
    MEMORY,
    External,
    Recorder,
    RunPlan,
    external_command,
    subject_record,
)
from oracle.cli.input.subjects import (
    Absent,
    Tested,
    check_families,
    of_client,
    patience_of,
)

NAME: Final = "assignor-oracle fuzz"
COUNT: Final = 200
"""Draws per family, unless a time is given."""
WITHOUT_END: Final = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzOptions:
    """Options of a run of ``fuzz``, as given."""

    command: str | None
    client: str | None
    wire: bool
    settles: bool  # each generation of a group on the wire
    cooperative: bool | None
    families: tuple[str, ...]
    instances: str | None
    seed: int
    first: int
    count: int | None
    time: float | None
    workers: int
    seconds: float
    memory: int
    require: str
    keep: int
    shrink_seconds: float | None  # per finding; None: findings are not shrunk
    reproducers: str | None  # folder; None: there are none
    patient: bool = True
    repeat: bool = True
    deterministic: bool | None = None  # None: as the client is declared

    def subjects(self) -> list[Tested | Absent]:
        """Return the programs to test: of a client without an assignor, all it has.

        Raises
        ------
        BadParameter
            Unless exactly one subject is named, if it is unknown, or if generations are
            to settle without a wire.
        OracleError
            If there is no such program.
        """
        limits: dict[str, Any] = {"seconds": self.seconds, "memory": self.memory}
        if self.wire and self.command is None and self.client is None:
            return [self._tested(self._outside_consumer())]
        if (self.command is None) == (self.client is None):
            raise typer.BadParameter("name one of --command and --client")
        if self.client is not None:
            found = of_client(
                self.client, **limits, wire=self.wire, settles=self.settles
            )
            return [
                self._tested(subject.external)
                if isinstance(subject, Tested)
                else subject
                for subject in found
            ]
        assert self.command is not None  # noqa: S101
        if self.wire:
            from conformance.wire import wired_command

            wired = wired_command(self.command, **limits, settles=self.settles)
            return [self._tested(wired)]
        if self.settles:
            raise typer.BadParameter("--settles needs --wire")
        return [self._tested(external_command(self.command, **limits))]

    def _tested(self, external: External) -> Tested:
        """Return the program, with whether its rebalances are driven through rounds."""
        known = external.client is not None and external.client.cooperative
        cooperative = known if self.cooperative is None else self.cooperative
        tested = Tested(external=external, cooperative=cooperative)
        patience = patience_of(patient=self.patient)
        return tested.with_patience(patience).repeating(
            repeat=self.repeat, deterministic=self.deterministic
        )

    def _outside_consumer(self) -> External:
        """Wait for a consumer that the user starts.

        Raises
        ------
        BadParameter
            If several workers would share it.
        OutsideError
            If none joins.
        """
        from conformance.wire import outside_consumer

        if self.workers != 1:
            raise typer.BadParameter("--wire without a program has one worker")
        outside = outside_consumer(seconds=self.seconds, settles=self.settles)
        wire = outside.wire
        place = f"{wire.address}, group {wire.group!r}, topic {wire.topic!r}"
        typer.echo(f"wire: waiting for a consumer at {place}", err=True)
        typer.echo(f"wire: leader of {wire.wait_for_consumer()!r}", err=True)
        return outside

    def check(self) -> None:
        """Check names, and that reproducers are possible, before the run.

        Raises
        ------
        BadParameter
            If there is no such family, or the subject of reproducers is not a client of
            the registry.
        """
        check_families(self.families, seed=self.seed, first=self.first)
        if self.reproducers is not None and (self.client is None or self.wire):
            raise typer.BadParameter("--reproducers needs --client, without --wire")

    @property
    def is_guided(self) -> bool:
        """Whether time alone ends the draws, and what they find guides them."""
        return self.time is not None and self.count is None and self.instances is None

    def plan(self, *, cooperative: bool) -> RunPlan:
        """Return what to draw."""
        without = COUNT if self.time is None else WITHOUT_END
        return RunPlan(
            families=tuple(dict.fromkeys(self.families)) or tuple(FAMILIES),
            seed=self.seed,
            first=self.first,
            count=without if self.count is None else self.count,
            cooperative=cooperative,
            keep=self.keep,
            workers=self.workers,
        )

    def recorder(self, tested: Tested) -> Recorder:
        """Return the writer of records."""
        limits = "" if self.seconds == 20.0 else f" --seconds {self.seconds:g}"
        limits += "" if self.patient else " --impatient"
        limits += "" if self.repeat else " --no-repeat"
        limits += "" if self.memory == MEMORY else f" --memory {self.memory}"
        rounds = " --cooperative" if tested.cooperative else " --eager"
        return Recorder(
            subject=subject_record(tested.external),
            cooperative=tested.cooperative,
            repeat=f"{NAME} {tested.external.option}{rounds}{limits}",
            date=datetime.now(UTC).strftime("%Y-%m-%d"),
            oracle=version("assignor-oracle"),
            deterministic=tested.deterministic if tested.repeats else None,
        )
