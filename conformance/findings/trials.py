"""Trials: every example of every finding, given to every installed client (trial/1).

A trial states whether a version has a finding: the pages call them affected, and not
affected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any, Final, Literal

import orjson

from conformance.clients import (
    Adapter,
    ClientAssignor,
    MissingClientError,
    all_client_assignors,
)
from conformance.findings.definitions import Definition, all_definitions
from conformance.findings.definitions.finding_definition import ExampleSource
from conformance.runs.external import External, external_client
from conformance.runs.outcome_records import case_parts
from conformance.runs.rounds import DrivenRebalance, drive
from conformance.runs.run_records import CategoryName, RoundRecord, first_line
from conformance.runs.subject import Subject
from conformance.strict_model import Day, StrictModel
from rebalance import AssignmentDocument, Count, Optional, parse_record

SECONDS: Final = 10.0
"""CPU time, or time without any, that is a hang of these instances.

They are tiny, and answered in milliseconds.
"""
RUNS: Final = 4
"""Runs of an assignor that is not deterministic; one that shows the finding counts."""


class Trial(StrictModel):
    """The outcome of one example for one assignor (trial/1).

    Attributes
    ----------
    example
        Number of the example in the definition, from 0.
    shows
        Whether the outcome is one that the finding selects.
    rounds, expected, needless_moves
        As in finding/1; absent unless it shows the finding.
    """

    format: Literal["trial/1"] = "trial/1"
    finding: str
    example: Count
    client: str
    version: str
    assignor: str
    cooperative: bool
    shows: bool
    category: CategoryName
    detail: str
    reason: Optional[str] = None
    rounds: Optional[list[RoundRecord]] = None
    needless_moves: Optional[Count] = None
    expected: Optional[AssignmentDocument] = None
    date: Day
    oracle: str

    @property
    def spec(self) -> str:
        """Specification of the assignor."""
        return f"{self.client}@{self.version}/{self.assignor}"


def parse_trial(text: bytes | str) -> Trial:
    """Read a trial/1 document.

    Raises
    ------
    DocumentError
        If the text is not such a record.
    """
    return parse_record(Trial, text)


def try_examples(
    *,
    date: str,
    oracle: str,
    missing: Callable[[str], None],
    seconds: float = SECONDS,
    definitions: tuple[Definition, ...] | None = None,
    assignors: tuple[ClientAssignor, ...] | None = None,
) -> Iterator[Trial]:
    """Yield the trials of all examples, by finding, example, and assignor.

    Parameters
    ----------
    date, oracle : str
        Day in UTC, and version of this program, which the records state.
    missing : callable
        Called with the specification of each assignor that is not installed.
    seconds : float
        CPU time, or time without any, after which a missing answer is a hang.
    definitions, assignors
        Definitions and assignors to try; by default all.
    """
    found: list[Trial] = []
    wanted = all_definitions() if definitions is None else definitions
    for assignor in all_client_assignors() if assignors is None else assignors:
        try:
            external = external_of(assignor, seconds=seconds)
        except MissingClientError:
            missing(assignor.spec)
            continue
        for definition, number, outcome in _outcomes(wanted, assignor, external):
            found.append(_trial(definition, number, assignor, outcome, date, oracle))
    yield from sorted(found, key=lambda trial: (trial.finding, trial.example))


def _outcomes(
    wanted: tuple[Definition, ...], assignor: ClientAssignor, external: External
) -> Iterator[tuple[Definition, int, DrivenRebalance]]:
    """Yield the outcome of each example by its number; a slow start is not a hang."""
    with closing(external.start_impatient(external.seconds)) as subject:
        for definition in wanted:
            for number, source in enumerate(definition.examples):
                if not source.clients or assignor.client in source.clients:
                    outcome = _outcome(definition, source, assignor, external, subject)
                    yield definition, number, outcome


def _outcome(
    definition: Definition,
    source: ExampleSource,
    assignor: ClientAssignor,
    external: External,
    subject: Subject,
) -> DrivenRebalance:
    """Run until an outcome shows the finding, at most `RUNS` times."""
    outcome = None
    for _ in range(1 if assignor.deterministic else RUNS):
        if source.remembers:
            outcome = _remembered(source, assignor, external)
        else:
            instance = source.documents()[-1]
            outcome = drive(subject, instance, cooperative=assignor.cooperative)
        if _shows(definition, source, assignor, outcome):
            break
    assert outcome is not None  # noqa: S101
    return outcome


def _remembered(
    source: ExampleSource, assignor: ClientAssignor, external: External
) -> DrivenRebalance:
    """Send all steps to one leader; Kafka's adapter keeps it only if it is asked to."""
    *before, instance = source.documents()
    program = external.leading().program
    with Adapter(program, seconds=external.seconds) as leader:
        for rebalance in before:
            leader.answer(orjson.dumps(rebalance))
        return drive(leader, instance, cooperative=assignor.cooperative)


def external_of(assignor: ClientAssignor, *, seconds: float) -> External:
    """Return the adapter, or the consumer on the wire if there is none.

    Raises
    ------
    MissingClientError
        If the client is not installed on this machine.
    """
    if assignor.kind == "adapter":
        return external_client(assignor, seconds=seconds)
    from conformance.wire import wired_client  # noqa: PLC0415 - needs an extra

    return wired_client(assignor, seconds=seconds)


def _shows(
    definition: Definition,
    source: ExampleSource,
    assignor: ClientAssignor,
    outcome: DrivenRebalance,
) -> bool:
    return definition.selects(
        client=assignor.client,
        version=assignor.version,
        assignor=assignor.assignor,
        category=outcome.category.value,
        detail=outcome.detail,
        family="restarted" if source.remembers else "file",
        instance=source.documents()[-1],
    )


def _trial(
    definition: Definition,
    number: int,
    assignor: ClientAssignor,
    outcome: DrivenRebalance,
    date: str,
    oracle: str,
) -> Trial:
    shows = _shows(definition, definition.examples[number], assignor, outcome)
    parts: dict[str, Any] = case_parts(outcome) if shows else {"reason": outcome.reason}
    if parts.get("reason"):
        parts["reason"] = first_line(parts["reason"])
    if "rounds" in parts:
        parts["rounds"] = [round_.without_trace() for round_ in parts["rounds"]]
    stated = ("reason", "rounds", "expected", "needless_moves")
    more: dict[str, Any] = {
        name: parts[name] for name in stated if parts.get(name) is not None
    }
    return Trial(
        finding=definition.id,
        example=number,
        client=assignor.client,
        version=assignor.version,
        assignor=assignor.assignor,
        cooperative=assignor.cooperative,
        shows=shows,
        category=outcome.category.value,
        detail=outcome.detail,
        **more,
        date=date,
        oracle=oracle,
    )
