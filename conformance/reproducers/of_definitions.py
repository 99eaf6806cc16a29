"""Reproducers of the findings of `conformance.findings`, one per finding and client.

For each client that a finding is about, the examples of its definition are given to the
client's assignors, the newest version first, until one shows the finding; of its
examples, the one that its page shows is taken. If none shows it, the smallest instance
on record that the definition selects is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NoReturn

from conformance.clients import ClientAssignor, MissingClientError
from conformance.findings import Definition, Trial, try_examples
from conformance.findings.definitions.example import assignors_of, example_of
from conformance.reproducers.case import ReproducerCase, case_of
from conformance.runs import Category, Finding

_DATE = "1970-01-01"  # of trials that are not recorded


def cases_of_definition(
    definition: Definition, client: str, recorded: Sequence[Finding] = ()
) -> Iterator[ReproducerCase]:
    """Yield cases of a finding for one client, the clearest first.

    Parameters
    ----------
    definition : Definition
    client : str
    recorded : sequence of Finding
        Records that the definition selects, of any client.

    Raises
    ------
    MissingClientError
        If a version is not installed: an older one would not stand for it.
    """
    for assignor in assignors_of(definition, client):
        trials = try_examples(
            date=_DATE,
            oracle="",
            missing=partial(_raise, assignor),
            definitions=(definition,),
            assignors=(assignor,),
        )
        shown = min(
            (trial for trial in trials if trial.shows),
            key=lambda trial: definition.place_of(trial.example),
            default=None,
        )
        if shown is not None:
            yield _case_of_trial(definition, assignor, shown)
    mine = [finding for finding in recorded if finding.subject.client == client]
    for finding in sorted(mine, key=_size)[:1]:
        yield case_of(finding, name=definition.id, title=definition.title)


def _case_of_trial(
    definition: Definition, assignor: ClientAssignor, trial: Trial
) -> ReproducerCase:
    found = example_of(definition, definition.examples[trial.example], assignor)
    return ReproducerCase(
        name=definition.id,
        title=definition.title,
        about=trial.reason or "",
        assignor=assignor,
        cooperative=trial.cooperative,
        category=Category(trial.category),
        instance=found.instance,
        earlier=found.before,
    )


def _raise(assignor: ClientAssignor, _: str) -> NoReturn:
    raise MissingClientError(assignor.client, assignor.version)


def _size(finding: Finding) -> tuple[int, int]:
    instance = (finding.shrunk or finding).instance
    partitions = sum(topic.partitions for topic in instance.topics.values())
    return len(instance.members), partitions
