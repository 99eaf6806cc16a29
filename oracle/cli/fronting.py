"""Pareto frontier of every rebalance of a file: tables, documents, pictures."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any

import typer
from rich.console import RenderableType
from rich.text import Text

from oracle.cli.codes import INTERRUPTED
from oracle.cli.inputs import Complaints, good, refusals
from oracle.cli.interrupts import run_stoppable
from oracle.cli.limits import Allowed
from oracle.cli.objectives import in_units, proof_text
from oracle.cli.sink import opened_sink
from oracle.cli.tables import Cell, name_of, table_of
from oracle.cli.terminal import PATIENCE, console_of, is_terminal, printed
from oracle.writing import written_aside
from rebalance import ClaimRule, Instance, instance_of, read_rebalances
from solver import Balance, BalanceKind, Limits
from solver.pareto import Front, Measure, Progress, balance_front, peak_lag_front
from solver.pareto.document import document_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Fronting:
    """What was asked for."""

    objective: str
    measure: str
    balance: str
    allowed: Allowed
    picture: Path | None
    stop: Event = field(default_factory=Event)

    def front(self, instance: Instance) -> Front:
        """Find the front of one rebalance; Ctrl-C ends it with what there is."""
        limits = self.allowed.begin(self.stop)
        with _bar() as progress:
            return run_stoppable(
                lambda: self._found(instance, limits, progress), self.stop
            )

    def _found(self, instance: Instance, limits: Limits, progress: Progress) -> Front:
        if self.objective == "balance":
            measure = Measure(self.measure)
            return balance_front(instance, measure, limits=limits, progress=progress)
        balance = Balance(kind=BalanceKind(self.balance))
        return peak_lag_front(instance, balance, limits=limits, progress=progress)

    def draw(self, instance: Instance, front: Front, number: int) -> None:
        """Draw a front, if a picture is asked for."""
        if self.picture is None:
            return
        from oracle.report.front_picture import picture_of

        target = self.picture
        if number > 1:
            target = target.with_stem(f"{target.stem}-{number}")
        kind = target.suffix.lower().removeprefix(".")
        drawn = picture_of(front, name_of(_named(instance)), kind=kind)
        with written_aside(target) as writer:
            writer.write(drawn)


def front_all(
    file: str, fronting: Fronting, *, claim_rule: str, output: str, as_json: bool
) -> None:
    """Find the front of every rebalance of a file, in its order.

    Raises
    ------
    typer.Exit
        After the last: with 130 when interrupted, with 2 when part of the input was
        not good.
    """
    complaints, rule, drawn = Complaints(), ClaimRule(claim_rule), 0
    with opened_sink(output, as_json=as_json) as sink:
        for number, document in good(read_rebalances(file), complaints):
            with refusals(complaints, source=file, number=number):
                instance = instance_of(document, claim_rule=rule)
                front = fronting.front(instance)
                if sink.for_people:
                    sink.write_text(printed(*front_parts(instance, front)))
                else:
                    sink.write_document(document_of(instance, front))
                drawn += 1
                fronting.draw(instance, front, drawn)
            if fronting.stop.is_set():
                break
        if not drawn:
            raise typer.Exit(complaints.exit_code)  # leaves no empty file behind
    raise typer.Exit(INTERRUPTED if fronting.stop.is_set() else complaints.exit_code)


def front_parts(instance: Instance, front: Front) -> list[RenderableType]:
    """Lay out a front: its points, what each move buys, and what is open."""
    scale = None if front.scale == 1 else front.scale
    words = front.measure.value if front.measure is not None else front.objective
    rows: list[tuple[Cell, ...]] = []
    before: int | None = None
    for point in front.points:
        gain = None if before is None else in_units(before - point.value, scale)
        before = point.value
        rows.append(
            (
                point.moves,
                in_units(point.value, scale),
                gain,
                in_units(point.bound, scale),
                "optimal" if point.is_proved else "feasible",
                proof_text(point.proof),
            )
        )
    state = "complete" if front.is_complete else "not complete"
    title = f"{name_of(_named(instance))} · moves against {words} · {state}"
    columns = ("moves", words, "less by", "bound", "status", "rests on")
    parts: list[RenderableType] = [table_of(title, columns, rows)]
    for run in front.open:
        until = f"to {run.last} " if run.last > run.first else ""
        bound = in_units(run.bound, scale)
        parts.append(Text(f"open: {run.first} {until}moves, at least {bound}"))
    if front.reason:
        parts.append(Text(front.reason))
    return [*parts, Text("")]


def _named(instance: Instance) -> dict[str, Any]:
    return {"group": instance.group, "id": instance.id}


@contextmanager
def _bar() -> Iterator[Callable[[int, int], None]]:
    """Show on standard error, after a second, how many budgets are settled."""
    if not is_terminal(sys.stderr):
        yield lambda _done, _total: None
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
    )
    from rich.progress import Progress as Bars

    columns = (TextColumn("budgets settled"), BarColumn(), MofNCompleteColumn())
    console = console_of(sys.stderr)
    bars = Bars(*columns, TimeElapsedColumn(), console=console, transient=True)
    task = bars.add_task("", total=None)
    start = threading.Timer(PATIENCE, bars.start)
    start.daemon = True
    start.start()
    try:
        yield lambda done, total: bars.update(task, completed=done, total=total)
    finally:
        start.cancel()
        start.join()
        if bars.live.is_started:
            bars.stop()
