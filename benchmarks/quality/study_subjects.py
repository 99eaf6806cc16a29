"""Assignors of a study: this project's, those of clients, and a user's command."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Final

from conformance.clients import (
    Answer,
    ClientAssignor,
    MissingClientError,
    Verdict,
    all_client_assignors,
    matching_client_assignors,
)
from conformance.runs import External, Subject, external_client, external_command
from conformance.wire import wired_client
from heuristics import ASSIGNORS, CooperativeStickyAssignor
from rebalance import document_of, instance_of, parse_rebalance

OURS: Final = "assignor-oracle"
REFUSAL: Final = "refuses: "
START_SECONDS: Final = 60.0
"""Limit of a start of a program and its first answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySubject:
    """An assignor of a study; a picklable value from which a worker starts it.

    Attributes
    ----------
    name : str
        The specification of a client's assignor; ``assignor-oracle@VERSION/NAME``; or
        a command.
    external : External or None
        The program; None if it is an assignor of this project.
    deterministic : bool
        Whether equal rebalances have equal answers, in every run.
    """

    name: str
    client: str
    version: str
    assignor: str
    language: str
    cooperative: bool
    deterministic: bool
    external: External | None = None

    def start(self, seconds: float) -> Subject:
        """Return the subject, with a limit per answer that excludes its start."""
        if self.external is None:
            return HeuristicSubject(assignor=self.assignor)
        return self.external.start_impatient(seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeuristicSubject:
    """An assignor of this project, in this process."""

    assignor: str

    @property
    def name(self) -> str:
        """Its name."""
        return self.assignor

    def answer(self, rebalance: bytes) -> Answer:
        """Return the assignment, of one round if it is cooperative.

        An algorithm that does not apply to the instance is an error with `REFUSAL`.
        """
        instance = instance_of(parse_rebalance(rebalance))
        chosen = ASSIGNORS[self.assignor]
        refusal = chosen.refuses(instance)
        if refusal is not None:
            return Answer(verdict=Verdict.ERROR, reason=f"{REFUSAL}{refusal}")
        if isinstance(chosen, CooperativeStickyAssignor):
            given = chosen.first_round(instance).given
        else:
            given = chosen.assign(instance)
        document = document_of(instance, given, assignor=self.assignor)
        return Answer(verdict=Verdict.ANSWERED, assignment=document)

    def cut(self) -> None:
        """Do nothing: nothing runs beside the caller."""

    def close(self) -> None:
        """Do nothing."""


def own_subjects(names: Sequence[str] = tuple(ASSIGNORS)) -> list[StudySubject]:
    """Return assignors of this project by name."""
    return [
        StudySubject(
            name=f"{OURS}@{version(OURS)}/{name}",
            client=OURS,
            version=version(OURS),
            assignor=name,
            language="Python",
            cooperative=isinstance(ASSIGNORS[name], CooperativeStickyAssignor),
            deterministic=True,
        )
        for name in names
    ]


def client_subjects(specs: Sequence[str]) -> Iterator[StudySubject | str]:
    """Yield the assignors that specifications cover, by default all of the registry.

    Of one that is not installed here, yield why.
    """
    chosen = [client for spec in specs for client in matching_client_assignors(spec)]
    for client in chosen or all_client_assignors():
        try:
            yield _of_client(client)
        except MissingClientError as error:
            yield f"{client.spec}: {error}"


def _of_client(client: ClientAssignor) -> StudySubject:
    start = external_client if client.kind == "adapter" else wired_client
    return StudySubject(
        name=client.spec,
        client=client.client,
        version=client.version,
        assignor=client.assignor,
        language=client.language,
        cooperative=client.cooperative,
        deterministic=client.deterministic,
        external=start(client, seconds=START_SECONDS),
    )


def command_subject(command: str, *, cooperative: bool) -> StudySubject:
    """Return a program of the user.

    Raises
    ------
    OutsideError
        If there is no such program.
    """
    return StudySubject(
        name=command,
        client=command,
        version="",
        assignor="",
        language="",
        cooperative=cooperative,
        deterministic=False,
        external=external_command(command, seconds=START_SECONDS),
    )
