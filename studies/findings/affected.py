"""Which versions of which clients have a finding, from trials and stored records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from conformance.clients import ClientAssignor, all_client_assignors
from conformance.findings import Trial
from conformance.runs import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Affected:
    """A client's versions that have a finding, by assignor, and those that do not.

    Attributes
    ----------
    assignors
        Affected assignors of each affected version, newest version first.
    spared
        Versions that were tried, have an assignor of the same name as an affected one
        of the client, and are not affected.
    """

    client: str
    assignors: Mapping[str, Sequence[str]]
    spared: Sequence[str]

    @property
    def names(self) -> list[str]:
        """Names of the assignors."""
        listed = (name for names in self.assignors.values() for name in names)
        return list(dict.fromkeys(listed))

    @property
    def versions_by_names(self) -> Mapping[Sequence[str], Sequence[str]]:
        """Versions by the names of their assignors, as far as these are the same."""
        alike: dict[Sequence[str], list[str]] = {}
        for version, names in self.assignors.items():
            alike.setdefault(tuple(names), []).append(version)
        return alike


def affected_by(
    trials: Iterable[Trial], findings: Iterable[Finding]
) -> tuple[tuple[Affected, ...], tuple[str, ...]]:
    """Return the affected clients, and those without the finding.

    A client counts as without the finding only if it has an assignor of the same name
    as an affected one, which was tried.
    """
    trials = tuple(trials)
    shown = {trial.spec for trial in trials if trial.shows}
    shown |= {finding.subject.name for finding in findings}
    tried = {trial.spec for trial in trials} | shown
    every = [assignor for assignor in all_client_assignors() if assignor.spec in tried]
    names = {assignor.assignor for assignor in every if assignor.spec in shown}
    hit: list[Affected] = []
    clean: list[str] = []
    for client in dict.fromkeys(assignor.client for assignor in every):
        mine = [assignor for assignor in every if assignor.client == client]
        affected = [assignor for assignor in mine if assignor.spec in shown]
        if affected:
            hit.append(_affected(client, mine, affected))
        elif any(assignor.assignor in names for assignor in mine):
            clean.append(client)
    return tuple(hit), tuple(clean)


def _affected(
    client: str, mine: Sequence[ClientAssignor], affected: Sequence[ClientAssignor]
) -> Affected:
    assignors: dict[str, list[str]] = {}
    for assignor in affected:
        assignors.setdefault(assignor.version, []).append(assignor.assignor)
    names = {assignor.assignor for assignor in affected}
    comparable = dict.fromkeys(
        assignor.version for assignor in mine if assignor.assignor in names
    )
    spared = [version for version in comparable if version not in assignors]
    return Affected(client=client, assignors=assignors, spared=spared)
