"""Explain the rebalances of a file, or its pairs with assignments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from threading import Event
from typing import Final

import typer

from oracle.cli.codes import FINE, INTERRUPTED, NO
from oracle.cli.input.given_group import GivenGroup, given_input
from oracle.cli.input.input_documents import Complaints, good, refusals
from oracle.cli.input.pairing import Document, Instances, pairs_of, read_instances
from oracle.cli.input.unknown_names import NameWarnings
from oracle.cli.options.explain import ExplainOptions
from oracle.cli.printing.parts import Part, Sheet, TextLine
from oracle.cli.printing.sink import STDOUT, Sink, opened_sink
from oracle.cli.printing.terminal import printed, working
from oracle.cli.runs.interrupts import run_stoppable
from oracle.cli.runs.solve import report_missing_kernels
from oracle.explanation import (
    Explanation,
    cause_text,
    explain,
    explanation_lines,
    silence_text,
)
from rebalance import ClaimRule, DocumentError, Instance
from solver import Policy, Result, parse_policy, solve

Pair = tuple[Document, Document | None]

_NEGATIVE: Final = frozenset({"not-best", "invalid", "infeasible"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _ExplainRun:
    """One run of ``explain``, until ``stop`` is set."""

    options: ExplainOptions
    policy: Policy
    stop: Event = field(default_factory=Event)

    def explained(self, instance: Document, assignment: Document | None) -> Explanation:
        """Explain one assignment, or the optimum."""
        report_missing_kernels()
        return explain(
            instance,
            assignment,
            self.policy,
            self._solve,
            claim_rule=ClaimRule(self.options.claim_rule),
            max_partitions=self.options.max_partitions,
        )

    def _solve(self, instance: Instance, policy: Policy) -> Result:
        limits = self.options.allowed.begin(self.stop)
        return run_stoppable(lambda: solve(instance, policy, limits=limits), self.stop)


def explain_all(options: ExplainOptions) -> None:
    """Explain every assignment of a file, or every optimum, in its order.

    Raises
    ------
    typer.Exit
        After the last explanation: with 130 if interrupted, with 2 if part of the input
        was unreadable, with 1 if an assignment is not the best.
    """
    instances = _given(options)
    run = _ExplainRun(options=options, policy=parse_policy(options.policy))
    complaints, negative, written = Complaints(), 0, 0
    for_programs = options.as_json or options.output != STDOUT
    premises = instances.premises if isinstance(instances, GivenGroup) else ()
    history = _history(instances)
    output = opened_sink(options.output, as_json=options.as_json)
    with output as sink, working("explaining") as count:
        for explanation in _explanations(instances, run, complaints):
            if premises and not for_programs:
                sink.write_text(
                    printed(TextLine(f"Provided that {'; '.join(premises)}:"))
                )
            if written and not for_programs:
                sink.write_text(printed(TextLine("")))
            _write(sink, explanation, history, for_programs=for_programs)
            negative += explanation.answer in _NEGATIVE
            written += 1
            count()
            if run.stop.is_set():
                break
        if not written:
            raise typer.Exit(complaints.exit_code)  # creates no empty file
    if run.stop.is_set():
        raise typer.Exit(INTERRUPTED)
    raise typer.Exit(complaints.exit_code or (NO if negative else FINE))


def _given(options: ExplainOptions) -> str | GivenGroup:
    """Return the file or the group; the group's page is written on the way."""
    given = given_input(
        options.instance, options.choice, options.max_partitions, with_causes=True
    )
    if options.html is not None:
        if not isinstance(given, GivenGroup):
            raise typer.BadParameter("--html requires --from")
        given.write_page(options.html, options.claim_rule)
    if isinstance(given, GivenGroup) and options.optimum:
        given = given.without_assignment()
    if options.instance == options.assignment == "-":
        raise typer.BadParameter("only one of the two can be standard input")
    return given


def _history(instances: str | GivenGroup) -> list[str]:
    """Return the sentences on the history of a rebalance."""
    if not isinstance(instances, GivenGroup):
        return []
    found = [cause_text(instances.causes)] if instances.causes else []
    return found + ([silence_text(instances.silences)] if instances.silences else [])


def _explanations(
    instances: str | GivenGroup, run: _ExplainRun, complaints: Complaints
) -> Iterator[Explanation]:
    assignments = run.options.assignment
    source = str(instances) if assignments is None else assignments
    if isinstance(instances, GivenGroup):
        pairs: Iterator[tuple[int, Pair]] = iter([(1, instances.judged_pair())])
    elif assignments is None:
        documents = read_instances(instances, run.options.max_partitions)
        pairs = (
            (number, (document, None))
            for number, document in good(documents, complaints)
        )
    else:
        documents = read_instances(instances, run.options.max_partitions)
        known = Instances(instances, documents)
        pairs = (
            (number, (instance, given))
            for number, instance, given in pairs_of(known, assignments, complaints)
            if not isinstance(instance, DocumentError)
            and not isinstance(given, DocumentError)
        )
    warnings = NameWarnings(source)
    for number, (instance, assignment) in pairs:
        warnings.check_plain(instance, number)
        with refusals(complaints, source=source, number=number):
            yield run.explained(instance, assignment)
    warnings.finish()


def _write(
    sink: Sink,
    explanation: Explanation,
    history: Sequence[str],
    *,
    for_programs: bool,
) -> None:
    if for_programs:
        sink.write_document(explanation.to_document())
        return
    name, *lines = explanation_lines(explanation)
    lines = [*history, *lines]
    parts: list[Part] = [
        TextLine(part) if isinstance(part, str) else Sheet(*part)
        for part in (name, *lines)
    ]
    sink.write_text(printed(*parts))
