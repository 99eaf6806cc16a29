"""Read rebalances, compute an assignment for each, and write the documents."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event

import typer

from oracle.cli.answer_parts import REFUSALS, answer_parts
from oracle.cli.codes import FINE, INTERRUPTED, NO
from oracle.cli.given_group import GivenGroup, read_given
from oracle.cli.inputs import Complaints
from oracle.cli.parts import Line
from oracle.cli.sink import Sink, opened_sink
from oracle.cli.terminal import printed, working
from oracle.cli.unknown_names import NameWarnings
from rebalance import (
    AssignmentDocument,
    ClaimRule,
    DocumentError,
    Instance,
    InstanceError,
    instance_of,
    to_json,
)

Answer = Callable[[Instance], AssignmentDocument]


def answer_all(  # noqa: PLR0913 - the options of the subcommands
    file: str | GivenGroup,
    answer: Answer,
    *,
    claim_rule: str,
    max_partitions: int,
    output: str,
    as_json: bool,
    what: str,
    stop: Event | None = None,
    errors: bool = False,
    warn: bool = False,
) -> None:
    """Compute an assignment for every rebalance of a file, until ``stop`` is set.

    With ``errors``, a rebalance without an answer has a line ``{"error": "why"}``; with
    ``warn``, names that do not exist are reported (`oracle.cli.unknown_names`).

    Raises
    ------
    typer.Exit
        After the last answer: with 130 if stopped, with 2 if part of the input was
        unreadable, with 1 if an answer is infeasible or unknown.
    """
    complaints = Complaints()
    rule = ClaimRule(claim_rule)
    answered, refused = 0, 0
    documents = read_given(file, max_partitions)
    warnings = NameWarnings(str(file), is_silent=not warn)
    with opened_sink(output, as_json=as_json) as sink, working(what) as count:
        for number, document in enumerate(documents, start=1):
            try:
                if isinstance(document, DocumentError):
                    raise document
                warnings.check(document, number)
                instance = instance_of(document, claim_rule=rule)
                found = answer(instance)
            except (DocumentError, InstanceError) as error:
                if isinstance(error, DocumentError):
                    complaints.add_error(error)
                else:
                    complaints.add(f"{file}: document {number}: {error}")
                if errors:
                    sink.write_document({"error": str(error)})
                    answered += 1
            else:
                _write(sink, instance, found)
                answered += 1
                refused += found.status in REFUSALS
            count()
            if stop is not None and stop.is_set():
                break
        warnings.finish()
        if not answered:
            raise typer.Exit(complaints.exit_code)  # creates no empty file
    if stop is not None and stop.is_set():
        raise typer.Exit(INTERRUPTED)
    raise typer.Exit(complaints.exit_code or (NO if refused else FINE))


def _write(sink: Sink, instance: Instance, answer: AssignmentDocument) -> None:
    if sink.for_people:
        sink.write_text(printed(*answer_parts(instance, answer), Line("")))
    else:
        sink.write_document(to_json(answer))
