"""Comparison for every rebalance of a file, and totals over all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import typer

from oracle.cli.input.given_group import GivenGroup, given_input, read_given
from oracle.cli.input.input_documents import Complaints, good, refusals
from oracle.cli.options.common import listed_names
from oracle.cli.options.compare import CompareOptions
from oracle.cli.printing.answer_tables import name_of
from oracle.cli.printing.parts import Cell, Sheet, TextLine, sheet_of
from oracle.cli.printing.sink import opened_sink
from oracle.cli.printing.terminal import printed, working
from oracle.comparison import comparison_of
from oracle.wording import loads_text
from pipeline.evaluation import KIP54, selection

Answer = Mapping[str, Any]


@dataclass(slots=True)
class Tally:
    """Counts of one assignor over many rebalances."""

    applies: int = 0
    at_optimum: int = 0
    at_kip54: int = 0
    unbalanced: int = 0
    needless_moves: int = 0

    def add(self, answer: Answer) -> None:
        """Count one more answer, unless the assignor refused."""
        if not answer["applies"]:
            return
        self.applies += 1
        is_balanced = answer["figures"]["dec_min_balanced"]
        needless = (answer.get("gap") or {}).get("moves", 0) if is_balanced else 0
        self.unbalanced += not is_balanced
        self.needless_moves += needless
        self.at_optimum += is_balanced and needless == 0
        self.at_kip54 += answer.get("kip54_gap") == 0


@dataclass(slots=True)
class Tallies:
    """Counts of every assignor over many rebalances."""

    rebalances: int = 0
    of: dict[str, Tally] = field(default_factory=dict)

    def add(self, comparison: Mapping[str, Any]) -> None:
        """Count one more rebalance."""
        self.rebalances += 1
        for answer in comparison["answers"]:
            self.of.setdefault(answer["assignor"], Tally()).add(answer)


def compare_all(options: CompareOptions) -> None:
    """Compare assignors on every rebalance of a file, or on that of a group.

    Raises
    ------
    SourceError
        If a name of ``--assignors`` is unknown.
    typer.Exit
        With 2, after the last comparison, if part of the input was unreadable.
    """
    given = given_input(options.file, options.choice, options.max_partitions)
    selected = selection(listed_names(options.assignors))
    complaints, tallies = Complaints(), Tallies()
    documents = read_given(given, options.max_partitions)
    actual = given.actual if isinstance(given, GivenGroup) else None
    written = opened_sink(options.output, as_json=options.as_json)
    with written as sink, working("comparing") as count:
        for number, document in good(documents, complaints):
            with refusals(complaints, source=str(given), number=number):
                comparison = comparison_of(
                    document, options.claim_rule, actual, assignors=selected
                )
                tallies.add(comparison)
                if sink.for_people:
                    sink.write_text(printed(_table(comparison), TextLine("")))
                else:
                    sink.write_document(comparison)
            count()
        if not tallies.rebalances:
            raise typer.Exit(complaints.exit_code)  # creates no empty file
        if sink.for_people and tallies.rebalances > 1:
            sink.write_text(printed(_summary(tallies)))
    raise typer.Exit(complaints.exit_code)


def _table(comparison: Mapping[str, Any]) -> Sheet:
    columns = (
        "assignor",
        "moves",
        "needless",
        "needless by KIP-54",
        "load × members",
        "balanced",
        "KIP-54 score",
        "peak lag",
    )
    rows = [_row(answer) for answer in comparison["answers"]]
    title = f"{name_of(comparison)} · optimum: {comparison['answers'][0]['status']}"
    bound = comparison["peak_lag_bound"]
    if bound is not None:
        title += f" · peak lag at least {bound:,} records"
    return Sheet(title, columns, rows)


def _row(answer: Answer) -> tuple[Cell, ...]:
    if not answer["applies"]:
        why = f"does not apply: {answer['refused']}"
        return (answer["assignor"], None, None, None, why, None, None, None)
    if answer["verdict"] == "invalid":  # only the group's own can be
        why = "invalid: judge --from lists the violations"
        return (answer["assignor"], None, None, None, why, None, None, None)
    figures = answer["figures"]
    is_balanced = figures["dec_min_balanced"]
    needless = (answer.get("gap") or {}).get("moves") if is_balanced else None
    return (
        answer["assignor"],
        figures["moves"],
        needless,
        answer["kip54_gap"],
        loads_text(figures["loads"]),
        is_balanced,
        figures["kip54_score"],
        figures["peak_lag"],
    )


def _summary(tallies: Tallies) -> Sheet:
    has_kip54 = KIP54 in tallies.of
    columns: dict[str, Callable[[tuple[str, Tally]], Cell]] = {
        "assignor": lambda row: row[0],
        "applies to": lambda row: row[1].applies,
        "at the optimum": lambda row: row[1].at_optimum,
        "at KIP-54's best": lambda row: row[1].at_kip54 if has_kip54 else None,
        "unbalanced": lambda row: row[1].unbalanced,
        "needless moves": lambda row: row[1].needless_moves,
    }
    title = f"all {tallies.rebalances:,} rebalances"
    return sheet_of(title, columns, tallies.of.items())
