"""Read rebalances, compute an assignment for each, and write the documents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Event

import typer

from oracle.cli.codes import FINE, INTERRUPTED, NO
from oracle.cli.input.given_group import GivenGroup, read_given_or_columns
from oracle.cli.input.input_documents import Complaints
from oracle.cli.input.unknown_names import NameWarnings
from oracle.cli.options.common import AnswerOptions
from oracle.cli.printing.answer_parts import REFUSALS, answer_parts
from oracle.cli.printing.parts import TextLine
from oracle.cli.printing.sink import Sink, opened_sink
from oracle.cli.printing.terminal import printed, working
from rebalance import (
    Assignment,
    AssignmentDocument,
    ClaimRule,
    DocumentError,
    Instance,
    InstanceError,
    Rebalance,
    assignment_json,
    instance_of,
    with_members,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerDocument:
    """An assignment as a column, and the other fields of its document."""

    assignment: Assignment
    about: AssignmentDocument

    def document(self, instance: Instance) -> AssignmentDocument:
        """Return the whole document, for tables."""
        return with_members(self.about, instance, self.assignment)


Answering = Callable[[Instance], AnswerDocument]
_Answered = tuple[Instance, AnswerDocument] | DocumentError | InstanceError


@dataclass(slots=True, kw_only=True)
class _WrittenDocuments:
    """Documents that were written, and those that decide the exit code."""

    complaints: Complaints
    written: int = 0
    refused: int = 0

    def write(self, sink: Sink, found: _Answered, place: str, *, errors: bool) -> None:
        """Write an answer; complain about an error, and write it if asked to."""
        if isinstance(found, tuple):
            _write(sink, *found)
            self.written += 1
            self.refused += found[1].about.status in REFUSALS
            return
        _complain(self.complaints, found, place)
        if errors:
            sink.write_document({"error": str(found)})
            self.written += 1

    @property
    def exit_code(self) -> int:
        """Return the exit code of a run that was not stopped."""
        return self.complaints.exit_code or (NO if self.refused else FINE)


def answer_all(
    given: str | GivenGroup,
    answer: Answering,
    options: AnswerOptions,
    *,
    progress: str,
    stop: Event | None = None,
    errors: bool = False,
    warn: bool = False,
) -> None:
    """Compute an assignment for every rebalance of a file, until ``stop`` is set.

    ``progress`` is shown on a terminal. With ``errors``, a rebalance without an answer
    has a line ``{"error": "why"}``; with ``warn``, names that do not exist are reported
    (`oracle.cli.input.unknown_names`).

    Raises
    ------
    typer.Exit
        After the last answer: with 130 if stopped, with 2 if part of the input was
        unreadable, with 1 if an answer is infeasible or unknown.
    """
    tally = _WrittenDocuments(complaints=Complaints())
    rule = ClaimRule(options.claim_rule)
    documents = read_given_or_columns(given, rule, options.max_partitions)
    warnings = NameWarnings(str(given), is_silent=not warn)
    written = opened_sink(options.output, as_json=options.as_json)
    with written as sink, working(progress) as count:
        for number, document in enumerate(documents, start=1):
            found = _answered(document, number, answer, rule, warnings)
            tally.write(sink, found, f"{given}: document {number}", errors=errors)
            count()
            if stop is not None and stop.is_set():
                break
        warnings.finish()
        if not tally.written:
            raise typer.Exit(tally.exit_code)  # creates no empty file
    if stop is not None and stop.is_set():
        raise typer.Exit(INTERRUPTED)
    raise typer.Exit(tally.exit_code)


def _complain(
    complaints: Complaints, error: DocumentError | InstanceError, place: str
) -> None:
    if isinstance(error, DocumentError):
        complaints.add_error(error)
    else:
        complaints.add(f"{place}: {error}")


def _answered(
    document: Instance | Rebalance | DocumentError,
    number: int,
    answer: Answering,
    rule: ClaimRule,
    warnings: NameWarnings,
) -> _Answered:
    """Return the instance and its answer, or why there is none.

    In a document that was read as columns, all names exist.
    """
    if isinstance(document, DocumentError):
        return document
    try:
        if isinstance(document, Rebalance):
            warnings.check(document, number)
            document = instance_of(document, claim_rule=rule)
        return document, answer(document)
    except (DocumentError, InstanceError) as error:
        return error


def _write(sink: Sink, instance: Instance, answer: AnswerDocument) -> None:
    if sink.for_people:
        document = answer.document(instance)
        sink.write_text(printed(*answer_parts(instance, document), TextLine("")))
    else:
        text = assignment_json(instance, answer.assignment, answer.about)
        sink.write_document(text)
