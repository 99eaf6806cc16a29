"""Explain the rebalances of a file, or its pairs with assignments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from oracle.cli.runs.solve import report_missing_kernels, solver_within
from oracle.explanation import (
    Explanation,
    cause_text,
    explain,
    explanation_lines,
    silence_text,
)
from rebalance import ClaimRule, DocumentError
from solver import Policy, parse_policy

Pair = tuple[Document, Document | None]

_NEGATIVE: Final = frozenset({"not-best", "invalid", "infeasible"})


def explain_all(options: ExplainOptions) -> None:
    """Explain every assignment of a file, or every optimum, in its order.

    Raises
    ------
    typer.Exit
        After the last explanation: with 130 if interrupted, with 2 if part of the input
        was unreadable, with 1 if an assignment is not the best.
    """
    instances = _given(options)
    policy, stop = parse_policy(options.policy), Event()
    complaints, negative, written = Complaints(), 0, 0
    for_programs = options.as_json or options.output != STDOUT
    premises = instances.found.premises if isinstance(instances, GivenGroup) else ()
    history = _history(instances)
    output = opened_sink(options.output, as_json=options.as_json)
    with output as sink, working("explaining") as count:
        for explanation in _explanations(instances, options, policy, stop, complaints):
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
            if stop.is_set():
                break
        if not written:
            raise typer.Exit(complaints.exit_code)  # creates no empty file
    if stop.is_set():
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
    causes, silences = instances.found.causes, instances.found.silences
    found = [cause_text(causes)] if causes else []
    return found + ([silence_text(silences)] if silences else [])


def _explanations(
    instances: str | GivenGroup,
    options: ExplainOptions,
    policy: Policy,
    stop: Event,
    complaints: Complaints,
) -> Iterator[Explanation]:
    assignments = options.assignment
    source = str(instances) if assignments is None else assignments
    if isinstance(instances, GivenGroup):
        pairs: Iterator[tuple[int, Pair]] = iter([(1, instances.judged_pair())])
    elif assignments is None:
        documents = read_instances(instances, options.max_partitions)
        pairs = (
            (number, (document, None))
            for number, document in good(documents, complaints)
        )
    else:
        documents = read_instances(instances, options.max_partitions)
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
            report_missing_kernels()
            yield explain(
                instance,
                assignment,
                policy,
                solver_within(options.allowed, stop),
                claim_rule=ClaimRule(options.claim_rule),
                max_partitions=options.max_partitions,
            )
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
