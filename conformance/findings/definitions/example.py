"""The instance that shows a finding of a client: defined, or the smallest on record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conformance.clients import ClientAssignor, all_client_assignors
from conformance.findings.definitions.finding_definition import (
    Definition,
    ExampleSource,
)
from rebalance import OutsideError


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """An instance for one assignor, and the outcome that it is expected to show.

    Attributes
    ----------
    before
        Rebalances that are sent first; only if the leader remembers.
    category, detail
        Of the first selector that is about the assignor; ``detail`` is a pattern.
    """

    finding: str
    client: str
    version: str
    assignor: str
    cooperative: bool
    category: str
    detail: str
    instance: dict[str, Any]
    before: tuple[dict[str, Any], ...] = ()
    remembers: bool = False


def example(definition: Definition, client: str) -> Example:
    """Return the first example of a finding for a client's newest affected assignor.

    Raises
    ------
    OutsideError
        If the finding is not about the client, or has no example for it.
    """
    about = assignors_of(definition, client)
    sources = [
        example
        for example in definition.examples
        if not example.clients or client in example.clients
    ]
    if not about or not sources:
        raise OutsideError(f"{definition.id} has no example for {client!r}")
    return example_of(definition, sources[0], about[0])


def assignors_of(definition: Definition, client: str) -> tuple[ClientAssignor, ...]:
    """Return the assignors of a client that a finding is about, newest first."""
    return tuple(
        assignor
        for assignor in all_client_assignors()
        if assignor.client == client
        and definition.is_about(assignor.client, assignor.version, assignor.assignor)
    )


def example_of(
    definition: Definition, source: ExampleSource, assignor: ClientAssignor
) -> Example:
    """Return an example for one assignor that the finding is about."""
    selector = next(
        s
        for s in definition.selectors
        if s.is_about(assignor.client, assignor.version, assignor.assignor)
    )
    *before, instance = source.documents()
    return Example(
        finding=definition.id,
        client=assignor.client,
        version=assignor.version,
        assignor=assignor.assignor,
        cooperative=assignor.cooperative,
        category=selector.categories[0],
        detail=selector.details[0],
        instance=instance,
        before=tuple(before) if source.remembers else (),
        remembers=source.remembers,
    )
