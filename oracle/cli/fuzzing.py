"""Run ``fuzz``: draw, drive, judge, and write records or tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import typer

from conformance.clients import client_assignor
from conformance.runs import (
    FAMILIES,
    MEMORY,
    Counts,
    External,
    Finding,
    Recorder,
    Requirement,
    RunPlan,
    RunSummary,
    ShrunkRecord,
    Sighting,
    external_client,
    external_command,
    run_families,
    run_instances,
    subject_record,
)
from conformance.shrinking import shrink_all, shrunk_record
from oracle.cli.codes import FINE, NO
from oracle.cli.fuzz_table import fuzz_parts
from oracle.cli.inputs import Complaints, good
from oracle.cli.sink import Sink, opened_sink
from oracle.cli.terminal import printed, working
from rebalance import plain_of, read_rebalances

NAME = "assignor-oracle fuzz"


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzOptions:
    """Options of a run of ``fuzz``, as given."""

    command: str | None
    client: str | None
    wire: bool
    cooperative: bool | None
    families: tuple[str, ...]
    instances: str | None
    seed: int
    first: int
    count: int
    time: float | None
    workers: int
    seconds: float
    memory: int
    require: str
    keep: int
    shrink_seconds: float | None  # per finding; None: findings are not shrunk
    reproducers: str | None  # folder; None: there are none

    def external(self) -> External:
        """Return the program to test.

        Raises
        ------
        BadParameter
            Unless exactly one subject is named.
        OracleError
            If there is no such program or client, or it is not installed.
        """
        if self.wire and self.command is None and self.client is None:
            return self._outside_consumer()
        if (self.command is None) == (self.client is None):
            raise typer.BadParameter("name one of --command and --client")
        if self.wire or self.is_only_on_the_wire():
            return self._consumer()
        if self.command is not None:
            return external_command(
                self.command, seconds=self.seconds, memory=self.memory
            )
        assert self.client is not None  # noqa: S101
        known = client_assignor(self.client)
        return external_client(known, seconds=self.seconds, memory=self.memory)

    def is_only_on_the_wire(self) -> bool:
        """Return whether the client has no adapter."""
        return self.client is not None and client_assignor(self.client).kind == "wire"

    def _consumer(self) -> External:
        """Return the consumer's program behind the wire."""
        from conformance.wire import wired_client, wired_command

        limits: dict[str, Any] = {"seconds": self.seconds, "memory": self.memory}
        if self.command is not None:
            return wired_command(self.command, **limits)
        assert self.client is not None  # noqa: S101
        return wired_client(client_assignor(self.client), **limits)

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
        outside = outside_consumer(seconds=self.seconds)
        wire = outside.wire
        place = f"{wire.address}, group {wire.group!r}, topic {wire.topic!r}"
        typer.echo(f"wire: waiting for a consumer at {place}", err=True)
        typer.echo(f"wire: leader of {wire.wait_for_consumer()!r}", err=True)
        return outside

    def check_reproducers(self) -> None:
        """Check that reproducers are possible, before the run.

        Raises
        ------
        BadParameter
            If the subject is not a client of the registry.
        """
        if self.reproducers is not None and (self.client is None or self.wire):
            raise typer.BadParameter("--reproducers needs --client, without --wire")

    def is_cooperative(self, external: External) -> bool:
        """Return whether rebalances are driven through rounds."""
        if self.cooperative is not None:
            return self.cooperative
        return external.client is not None and external.client.cooperative

    def plan(self, *, cooperative: bool) -> RunPlan:
        """Return what to draw.

        Raises
        ------
        BadParameter
            If there is no such family.
        """
        for name in self.families:
            if name not in FAMILIES:
                known = ", ".join(FAMILIES)
                raise typer.BadParameter(f"no family {name!r}; there are {known}")
        return RunPlan(
            families=tuple(dict.fromkeys(self.families)) or tuple(FAMILIES),
            seed=self.seed,
            first=self.first,
            count=self.count,
            seconds=self.time,
            cooperative=cooperative,
            keep=self.keep,
            workers=self.workers,
        )

    def recorder(self, external: External, *, cooperative: bool) -> Recorder:
        """Return the writer of records."""
        limits = "" if self.seconds == 20.0 else f" --seconds {self.seconds:g}"
        limits += "" if self.memory == MEMORY else f" --memory {self.memory}"
        rounds = " --cooperative" if cooperative else " --eager"
        return Recorder(
            subject=subject_record(external),
            cooperative=cooperative,
            repeat=f"{NAME} {external.option}{rounds}{limits}",
            date=datetime.now(UTC).strftime("%Y-%m-%d"),
            oracle=version("assignor-oracle"),
        )


def fuzz_all(options: FuzzOptions, *, output: str, as_json: bool) -> None:
    """Test the subject, and write findings and counts.

    Raises
    ------
    typer.Exit
        After the last record: with 2 if part of the instances was unreadable, else with
        1 if an outcome does not meet the requirement.
    """
    options.check_reproducers()
    external, complaints = options.external(), Complaints()
    cooperative = options.is_cooperative(external)
    plan = options.plan(cooperative=cooperative)
    with opened_sink(output, as_json=as_json) as sink:
        external.check()
        counted = _counted(options, external, plan, complaints)
        recorder = options.recorder(external, cooperative=cooperative)
        sightings = [one for counts in counted for one in counts.sightings]
        shrunk = _shrunk(options, external, sightings, cooperative=cooperative)
        findings = [
            recorder.finding(one, small)
            for one, small in zip(sightings, shrunk, strict=True)
        ]
        drawn = options.instances is None
        summaries = [
            recorder.summary(
                counts,
                seed=plan.seed if drawn else None,
                first=plan.first if drawn else 0,
            )
            for counts in counted
        ]
        _write(sink, findings, summaries)
    _reproduce(options, findings, date=recorder.date)
    requirement = Requirement(options.require)
    unmet = any(
        number and not requirement.is_met_by(category)
        for counts in counted
        for category, number in counts.outcomes.items()
    )
    raise typer.Exit(complaints.exit_code or (NO if unmet else FINE))


def _counted(
    options: FuzzOptions, external: External, plan: RunPlan, complaints: Complaints
) -> list[Counts]:
    with working("rebalances", before_output=True) as count:

        def advance(rebalances: int) -> None:
            for _ in range(rebalances):
                count()

        if options.instances is None:
            found = run_families(external, plan, advance=advance)
            return list(found.values())
        given = _instances(options.instances, complaints)
        return [run_instances(external, given, plan, advance=advance)]


def _shrunk(
    options: FuzzOptions,
    external: External,
    sightings: list[Sighting],
    *,
    cooperative: bool,
) -> Iterator[ShrunkRecord | None]:
    if options.shrink_seconds is None:
        yield from (None for _ in sightings)
        return
    with working("shrinking", before_output=True) as count:
        for shrunk in shrink_all(
            external,
            sightings,
            cooperative=cooperative,
            seconds=options.shrink_seconds,
            workers=min(options.workers, len(sightings)) or 1,
        ):
            yield shrunk_record(shrunk)
            count()


def _reproduce(options: FuzzOptions, findings: list[Finding], *, date: str) -> None:
    """Write the reproducers, and state for each whether it was confirmed."""
    if options.reproducers is None:
        return
    from oracle.cli.fuzz_reproducers import write_reproducers

    for line in write_reproducers(findings, Path(options.reproducers), date=date):
        typer.echo(f"reproducer: {line}", err=True)


def _instances(file: str, complaints: Complaints) -> Iterator[dict[str, Any]]:
    for _, document in good(read_rebalances(file), complaints):
        yield plain_of(document)


def _write(sink: Sink, findings: list[Finding], summaries: list[RunSummary]) -> None:
    if sink.for_people:
        sink.write_text(printed(*fuzz_parts(findings, summaries)))
        return
    for record in (*findings, *summaries):
        sink.write_document(record.model_dump(exclude_none=True))
