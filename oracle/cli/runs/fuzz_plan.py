"""Programs that a run of ``fuzz`` tests, draws, and records, as its options state."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any, Final

import typer

from conformance.runs import (
    FAMILIES,
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
)
from oracle.cli.options.fuzz import FuzzOptions
from oracle.cli.options.values import stated_options
from oracle.cli.printing.terminal import say

NAME: Final = "assignor-oracle fuzz"
COUNT: Final = 200
"""Draws per family, unless a time is given."""
WITHOUT_END: Final = 10**9
_RECORDED: Final = ("seconds", "patient", "repeat", "memory")
"""Options on which the outcome of a recorded finding depends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzPlan:
    """Subjects and draws of a run of ``fuzz``, as its options state them."""

    options: FuzzOptions

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
        options = self.options
        limits: dict[str, Any] = {"seconds": options.seconds, "memory": options.memory}
        if options.wire and options.command is None and options.client is None:
            return [self._tested(self._outside_consumer())]
        if (options.command is None) == (options.client is None):
            raise typer.BadParameter("name one of --command and --client")
        if options.client is not None:
            found = of_client(
                options.client, **limits, wire=options.wire, settles=options.settles
            )
            return [
                self._tested(subject.external)
                if isinstance(subject, Tested)
                else subject
                for subject in found
            ]
        assert options.command is not None  # noqa: S101
        if options.wire:
            from conformance.wire import wired_command

            wired = wired_command(options.command, **limits, settles=options.settles)
            return [self._tested(wired)]
        if options.settles:
            raise typer.BadParameter("--settles needs --wire")
        return [self._tested(external_command(options.command, **limits))]

    def _tested(self, external: External) -> Tested:
        """Return the program, with whether its rebalances are driven through rounds."""
        options = self.options
        known = external.client is not None and external.client.cooperative
        cooperative = known if options.cooperative is None else options.cooperative
        return Tested(external=external, cooperative=cooperative).stated(options)

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

        if self.options.workers != 1:
            raise typer.BadParameter("--wire without a program has one worker")
        outside = outside_consumer(
            seconds=self.options.seconds, settles=self.options.settles
        )
        wire = outside.wire
        place = f"{wire.address}, group {wire.group!r}, topic {wire.topic!r}"
        say(f"wire: waiting for a consumer at {place}")
        say(f"wire: leader of {wire.wait_for_consumer()!r}")
        return outside

    def check(self) -> None:
        """Check names, and that reproducers are possible, before the run.

        Raises
        ------
        BadParameter
            If there is no such family, or the subject of reproducers is not a client of
            the registry.
        """
        options = self.options
        check_families(options.family or (), seed=options.seed, first=options.first)
        is_adapted = options.client is not None and not options.wire
        if options.reproducers is not None and not is_adapted:
            raise typer.BadParameter("--reproducers needs --client, without --wire")

    @property
    def is_guided(self) -> bool:
        """Whether time alone ends the draws, and their findings guide them."""
        options = self.options
        is_timed = options.time is not None and options.count is None
        return is_timed and options.instances is None

    def draws(self, *, cooperative: bool) -> RunPlan:
        """Return the draws to make."""
        options = self.options
        without = COUNT if options.time is None else WITHOUT_END
        return RunPlan(
            families=tuple(dict.fromkeys(options.family or FAMILIES)),
            seed=options.seed,
            first=options.first,
            count=without if options.count is None else options.count,
            cooperative=cooperative,
            keep=options.keep,
            workers=options.workers,
        )

    def recorder(self, tested: Tested) -> Recorder:
        """Return the writer of records."""
        rounds = "--cooperative" if tested.cooperative else "--eager"
        words = [rounds, *stated_options(self.options, _RECORDED)]
        return Recorder(
            subject=subject_record(tested.external),
            cooperative=tested.cooperative,
            repeat=f"{NAME} {tested.external.option} {' '.join(words)}",
            date=datetime.now(UTC).strftime("%Y-%m-%d"),
            oracle=version("assignor-oracle"),
            deterministic=tested.deterministic if tested.repeats else None,
        )
