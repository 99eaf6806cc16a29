"""Read rebalances, answer each with an assignment, write the answers."""

from __future__ import annotations

from collections.abc import Callable

import typer
from rich.text import Text

from oracle.cli.inputs import Complaints, good, refusals
from oracle.cli.sink import Sink, opened_sink
from oracle.cli.tables import assignment_table
from oracle.cli.terminal import printed, working
from rebalance import AssignmentDocument, ClaimRule, Instance, instance_of, to_json
from rebalance.reading import read_rebalances

Answer = Callable[[Instance], AssignmentDocument]


def answer_all(
    file: str, answer: Answer, *, claim_rule: str, output: str, as_json: bool, what: str
) -> None:
    """Answer every rebalance of a file, in its order.

    Raises
    ------
    typer.Exit
        With 2, after the last answer, when part of the input was not good.
    """
    complaints = Complaints()
    rule = ClaimRule(claim_rule)
    answered = 0
    with opened_sink(output, as_json=as_json) as sink, working(what) as count:
        for number, document in good(read_rebalances(file), complaints):
            with refusals(complaints, source=file, number=number):
                instance = instance_of(document, claim_rule=rule)
                _write(sink, instance, answer(instance))
                answered += 1
            count()
        if not answered:
            raise typer.Exit(complaints.exit_code)  # leaves no empty file behind
    raise typer.Exit(complaints.exit_code)


def _write(sink: Sink, instance: Instance, answer: AssignmentDocument) -> None:
    if sink.for_people:
        sink.write_text(printed(assignment_table(instance, answer), Text("")))
    else:
        sink.write_document(to_json(answer))
