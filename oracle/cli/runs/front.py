"""Compute the Pareto frontier of every rebalance of a file; print, write, draw it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event
from typing import Any

import typer

from oracle.cli.codes import INTERRUPTED
from oracle.cli.input.given_group import given_input, read_given
from oracle.cli.input.input_documents import Complaints, good, refusals
from oracle.cli.input.unknown_names import NameWarnings
from oracle.cli.options.file_roles import refuse_input
from oracle.cli.options.front import FrontOptions
from oracle.cli.printing.answer_tables import name_of
from oracle.cli.printing.objective_tables import in_units, proof_text
from oracle.cli.printing.parts import Cell, Part, Sheet, TextLine
from oracle.cli.printing.sink import opened_sink
from oracle.cli.printing.terminal import is_terminal, late_bar, printed
from oracle.cli.runs.interrupts import run_stoppable
from oracle.writing import replacing
from rebalance import ClaimRule, Instance, instance_of
from solver import Balance, BalanceKind, Limits
from solver.pareto import (
    Frontier,
    FrontierPoint,
    Progress,
    balance_frontier,
    document_of,
    peak_lag_frontier,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _FrontRun:
    """One run of ``front``, until ``stop`` is set."""

    options: FrontOptions
    stop: Event = field(default_factory=Event)

    def frontier(self, instance: Instance) -> Frontier:
        """Compute the frontier of one rebalance; Ctrl-C returns the known points."""
        limits = self.options.allowed.begin(self.stop)
        with _progress_bar() as progress:
            return run_stoppable(
                lambda: self._compute(instance, limits, progress), self.stop
            )

    def _compute(
        self, instance: Instance, limits: Limits, progress: Progress
    ) -> Frontier:
        if self.options.objective == "balance":
            return balance_frontier(instance, limits=limits, progress=progress)
        balance = Balance(kind=BalanceKind(self.options.balance or "none"))
        return peak_lag_frontier(instance, balance, limits=limits, progress=progress)

    def draw(self, instance: Instance, frontier: Frontier, number: int) -> None:
        """Draw a frontier, if a picture is requested."""
        target = self.options.picture
        if target is None:
            return
        from oracle.report.frontier_chart import picture_of

        if number > 1:
            target = target.with_stem(f"{target.stem}-{number}")
        kind = target.suffix.lower().removeprefix(".")
        drawn = picture_of(frontier, name_of(_named(instance)), kind=kind)
        refuse_input(target)
        with replacing(target) as writer:
            writer.write(drawn)


def front_all(options: FrontOptions) -> None:
    """Compute the frontier of every rebalance of a file, in its order.

    Raises
    ------
    typer.Exit
        After the last frontier: with 130 if interrupted, with 2 if part of the input
        was rejected.
    """
    given = given_input(options.file, options.choice, options.max_partitions)
    run = _FrontRun(options=options)
    complaints, rule, drawn = Complaints(), ClaimRule(options.claim_rule), 0
    documents = read_given(given, options.max_partitions)
    warnings = NameWarnings(str(given))
    with opened_sink(options.output, as_json=options.as_json) as sink:
        for number, document in good(documents, complaints):
            warnings.check(document, number)
            with refusals(complaints, source=str(given), number=number):
                instance = instance_of(document, claim_rule=rule)
                frontier = run.frontier(instance)
                if sink.for_people:
                    sink.write_text(printed(*frontier_parts(instance, frontier)))
                else:
                    sink.write_document(document_of(instance, frontier))
                drawn += 1
                run.draw(instance, frontier, drawn)
            if run.stop.is_set():
                break
        warnings.finish()
        if not drawn:
            raise typer.Exit(complaints.exit_code)  # creates no empty file
    raise typer.Exit(INTERRUPTED if run.stop.is_set() else complaints.exit_code)


def frontier_parts(instance: Instance, frontier: Frontier) -> list[Part]:
    """Lay out a frontier: a table of its points, then the open ranges."""
    scale = None if frontier.scale == 1 else frontier.scale
    measure = frontier.measure or frontier.objective
    rows: list[tuple[Cell, ...]] = []
    before: int | None = None
    for point in frontier.points:
        gain = None if before is None else in_units(before - point.value, scale)
        before = point.value
        rows.append(
            (
                point.moves,
                in_units(point.value, scale),
                gain,
                *_score(point),
                in_units(point.bound, scale),
                "optimal" if point.is_proved else "feasible",
                proof_text(point.proof),
            )
        )
    state = "complete" if frontier.is_complete else "not complete"
    title = f"{name_of(_named(instance))} · moves against {measure} · {state}"
    score = ("KIP-54 score",) if frontier.measure else ()
    columns = ("moves", measure, "less by", *score, "bound", "status", "rests on")
    parts: list[Part] = [Sheet(title, columns, rows)]
    for open_range in frontier.open:
        until = f"to {open_range.last:,} " if open_range.last > open_range.first else ""
        bound = in_units(open_range.bound, scale)
        parts.append(
            TextLine(f"open: {open_range.first:,} {until}moves, at least {bound}")
        )
    if frontier.reason:
        parts.append(TextLine(frontier.reason))
    return [*parts, TextLine("")]


def _score(point: FrontierPoint) -> tuple[int, ...]:
    return () if point.kip54_score is None else (point.kip54_score,)


def _named(instance: Instance) -> dict[str, Any]:
    return {"group": instance.group, "id": instance.id}


@contextmanager
def _progress_bar() -> Iterator[Callable[[int, int], None]]:
    """Show after a second, on standard error, how many limits on moves are solved."""
    if not is_terminal(sys.stderr):
        yield lambda _done, _total: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn

    columns = (TextColumn("limits on moves solved"), BarColumn(), MofNCompleteColumn())
    with late_bar(*columns) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
