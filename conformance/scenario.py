"""Scenarios (scenario/1): rebalances in sequence, with expected properties.

Expectations are properties. An exact assignment is expected only if the published
algorithm is deterministic and states it, or if no other answer has the property. Every
answer is expected to be valid.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rebalance import (
    AssignmentDocument,
    Count,
    DocumentError,
    Figures,
    Optional,
    Rebalance,
    json_path,
    parse_json,
    rebalance_of,
)

Held = dict[str, dict[str, list[Count]]]
ClaimRuleName = Literal["newest-claim", "current-generation"]

EVERYONE: Final = "everyone"
"""Subject: every assignor that answers."""

OPTIMUM: Final = "optimum"
"""Subject: the optimum, dec-min balance and then stickiness."""

AS_IT_STANDS: Final = "as-it-stands"
"""Subject: the present assignment, owners with what they own."""


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Expectation(_Part):
    """An expected property of an answer, and the subjects to which it applies.

    Attributes
    ----------
    of
        Subjects: names of assignors, ``policy:NAME`` of an integer program, or
        `EVERYONE`, `OPTIMUM`, `AS_IT_STANDS`.
    round
        Round of a cooperative rebalance, from 1, to which it applies; absent: it
        applies to the stable state. refused The assignor refuses the instance. figures
        The expected figures, named as in verdict/1. assignment The exact assignment,
        without members that have no partitions. holds Partitions that members have,
        possibly among others. loads_within Least and largest allowed load. per_topic
        Loads per topic over its subscribers, largest first. together Topics whose
        partitions with the same number have the same member (co-partitioning).
    """

    name: str
    of: Annotated[list[str], Field(min_length=1)]
    claim_rule: ClaimRuleName = "newest-claim"
    round: Optional[Annotated[int, Field(ge=1)]] = None
    refused: bool = False
    figures: Optional[Figures] = None
    assignment: Optional[Held] = None
    holds: Optional[Held] = None
    loads_within: Optional[
        Annotated[list[Count], Field(min_length=2, max_length=2)]
    ] = None
    per_topic: Optional[dict[str, list[Count]]] = None
    together: Optional[list[list[str]]] = None


class Step(_Part):
    """One rebalance of a scenario.

    Attributes
    ----------
    rebalance
        A rebalance/1 document, possibly an unreadable one.
    unreadable
        JSON path of the error in an unreadable document; absent if it is readable.
    owners
        Owned partitions per claim rule, without members that own none.
    """

    name: str
    rebalance: dict[str, Any]
    unreadable: Optional[str] = None
    owners: dict[ClaimRuleName, Held] = {}
    expect: list[Expectation] = []

    def expected_of(self, *subjects: str) -> Iterator[Expectation]:
        """Yield the expectations of any of these subjects."""
        for expectation in self.expect:
            if not set(subjects).isdisjoint(expectation.of):
                yield expectation

    def after(self, previous: AssignmentDocument | None, generation: int) -> Rebalance:
        """Return the step's rebalance after a previous assignment.

        A member without ``owned`` claims what it received in the previous assignment,
        with ``generation``; a member that states its claims keeps them.

        Raises
        ------
        DocumentError
            If the step is unreadable.
        """
        if previous is None:
            return rebalance_of(self.rebalance)
        members = {
            member_id: {"owned": previous.members[member_id], "generation": generation}
            | member
            if member_id in previous.members and "owned" not in member
            else member
            for member_id, member in self.rebalance["members"].items()
        }
        return rebalance_of(self.rebalance | {"members": members})


class Scenario(_Part):
    """A sequence of rebalances from the field.

    Attributes
    ----------
    name
        Name of the scenario and of its file.
    source
        KIP, ticket or thread.
    tells
        What happened, or what it shows, in one or two sentences.
    """

    format: Literal["scenario/1"]
    name: str
    source: str
    tells: str
    steps: Annotated[list[Step], Field(min_length=1)]


def parse_scenario(text: bytes | str, *, source: str | None = None) -> Scenario:
    """Read a scenario/1 document.

    Raises
    ------
    DocumentError
        If the text is no such document, or if a step states ``unreadable`` for a
        readable rebalance, or omits it for an unreadable one.
    """
    try:
        scenario = Scenario.model_validate(parse_json(text))
        _check_steps(scenario)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        path = json_path(first["loc"])
        raise DocumentError(first["msg"], path=path, source=source) from None
    except DocumentError as error:
        raise error.at(source=source, line=None) from None
    return scenario


def _check_steps(scenario: Scenario) -> None:
    for position, step in enumerate(scenario.steps):
        found = None
        try:
            rebalance_of(step.rebalance)
        except DocumentError as error:
            found = error.path
        if found != step.unreadable:
            where = json_path(("steps", position, "rebalance"))
            said = step.unreadable or "nothing"
            raise DocumentError(
                f"unreadable at {found or 'nothing'}, said to be at {said}", path=where
            )
