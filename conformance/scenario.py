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
    schema_error,
)

Held = dict[str, dict[str, list[Count]]]
ClaimRuleName = Literal["newest-claim", "current-generation"]

EVERYONE: Final = "everyone"
"""Subject: every assignor that answers."""

OPTIMUM: Final = "optimum"
"""Subject: the optimum, dec-min balance and then stickiness."""

AS_IT_STANDS: Final = "as-it-stands"
"""Subject: the present assignment, owners with their partitions."""

POLICY: Final = "policy:"
"""Prefix of a subject: an integer program for the policy that follows."""


class _ScenarioPart(BaseModel):
    """Part of a scenario; the docstrings of its fields are those of the schema."""

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, use_attribute_docstrings=True
    )


class Expectation(_ScenarioPart):
    """An expected property of an answer, and the subjects to which it applies."""

    name: str
    """Expectation in words; unique within the step."""

    of: Annotated[list[str], Field(min_length=1)]
    """Subjects: names of assignors; `policy:NAME`, an integer program; `everyone`,
    every assignor that answers; `optimum`, dec-min balance, then the fewest moves;
    `as-it-stands`, owners with their partitions."""

    claim_rule: ClaimRuleName = "newest-claim"
    """The claim rule under which it applies."""

    round: Optional[Annotated[int, Field(ge=1)]] = None
    """Round of a cooperative rebalance, from 1, to which it applies; absent: it applies
    to the stable state."""

    refused: bool = False
    """The assignor refuses the instance."""

    figures: Optional[Figures] = None
    """Expected figures, named as in verdict/1."""

    assignment: Optional[Held] = None
    """The exact assignment, without members that have no partitions."""

    holds: Optional[Held] = None
    """Partitions that members have, possibly among others."""

    loads_within: Optional[
        Annotated[list[Count], Field(min_length=2, max_length=2)]
    ] = None
    """Least and largest allowed load of every member."""

    per_topic: Optional[dict[str, list[Count]]] = None
    """Loads per topic over its subscribers, largest first."""

    together: Optional[list[list[str]]] = None
    """Topics whose partitions with the same number have the same member
    (co-partitioning)."""


class Step(_ScenarioPart):
    """One rebalance of a scenario.

    A member without `owned` claims its partitions of the last step, with the number
    of this step, counted from 0, as its generation. In the first step and after a
    refusal, it claims nothing. Steps with `unreadable` are passed over.
    """

    name: str
    """Event of the step; unique within the scenario."""

    rebalance: dict[str, Any]
    """A rebalance/1 document, possibly an unreadable one."""

    unreadable: Optional[str] = None
    """JSON path of the error in an unreadable document; absent if it is readable."""

    owners: dict[ClaimRuleName, Held] = {}
    """Owned partitions per claim rule, without members that own none."""

    expect: list[Expectation] = []
    """Expected properties. In addition, every answer is expected to be valid."""

    def expected_of(self, *subjects: str) -> Iterator[Expectation]:
        """Yield the expectations of any of these subjects."""
        for expectation in self.expect:
            if not set(subjects).isdisjoint(expectation.of):
                yield expectation

    def after(self, previous: AssignmentDocument | None, generation: int) -> Rebalance:
        """Return the step's rebalance after a previous assignment.

        A member without ``owned`` claims its partitions of the previous assignment,
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


class Scenario(_ScenarioPart):
    """A sequence of rebalances from the field, with the expected answers."""

    format: Literal["scenario/1"]
    """Name and version of the format."""

    name: str
    """Name of the scenario and of its file."""

    source: str
    """KIP, ticket or thread."""

    tells: str
    """Events of the scenario, or its lesson, in one or two sentences."""

    steps: Annotated[list[Step], Field(min_length=1)]
    """The rebalances, in order."""


def parse_scenario(text: bytes | str, *, source: str | None = None) -> Scenario:
    """Read a scenario/1 document.

    Raises
    ------
    DocumentError
        If the text is not such a document, or if a step states ``unreadable`` for a
        readable rebalance, or omits it for an unreadable one.
    """
    try:
        scenario = _validated(parse_json(text))
        _check_steps(scenario)
    except DocumentError as error:
        raise error.at(source=source, line=None) from None
    return scenario


def _validated(value: Any) -> Scenario:
    try:
        return Scenario.model_validate(value)
    except ValidationError as error:
        raise schema_error(error, value) from None


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
