"""Which versions of which clients have a finding, from trials and stored records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from conformance.clients import all_client_assignors
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
        Versions that were tried and have no assignor that is affected.
    """

    client: str
    assignors: Mapping[str, Sequence[str]]
    spared: Sequence[str]


def affected_by(
    trials: Iterable[Trial], findings: Iterable[Finding]
) -> tuple[tuple[Affected, ...], tuple[str, ...]]:
    """Return the affected clients, and those of which every assignor was spared."""
    trials = tuple(trials)
    shown = {one.spec for one in trials if one.shows}
    shown |= {one.subject.name for one in findings}
    tried = {one.spec for one in trials} | shown
    every = [one for one in all_client_assignors() if one.spec in tried]
    clients = list(dict.fromkeys(one.client for one in every))
    hit: list[Affected] = []
    clean: list[str] = []
    for client in clients:
        versions: dict[str, list[str]] = {}
        for one in every:
            if one.client == client:
                names = versions.setdefault(one.version, [])
                if one.spec in shown:
                    names.append(one.assignor)
        if any(versions.values()):
            hit.append(
                Affected(
                    client=client,
                    assignors={v: names for v, names in versions.items() if names},
                    spared=[v for v, names in versions.items() if not names],
                )
            )
        else:
            clean.append(client)
    return tuple(hit), tuple(clean)


def affected_in_words(hit: Sequence[Affected]) -> str:
    """Return the affected versions, ``kafka-clients 4.4.0, 3.9.2 (sticky); …``."""
    return "; ".join(_in_words(one) for one in hit)


def _in_words(one: Affected) -> str:
    alike: dict[tuple[str, ...], list[str]] = {}
    for version, names in one.assignors.items():
        alike.setdefault(tuple(names), []).append(version)
    parts = [
        f"{', '.join(versions)} ({', '.join(f'`{name}`' for name in names)})"
        for names, versions in alike.items()
    ]
    return f"{one.client} {', '.join(parts)}"
