"""Records of explanation/1: an answer, and the statements that support it.

`docs/documents.md` describes them, `docs/explain.md` explains them. The JSON Schema is
`docs/data/explanation-1.schema.json`.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from oracle.explanation.bound_records import (
    Certified,
    CrowdedClaims,
    LowerBound,
    OutrankedClaims,
    TightBlock,
    Uncheckable,
)
from oracle.explanation.improvement_records import (
    BetterAssignment,
    ClaimExchange,
    Gap,
    ImprovingChain,
    MovesGivenBack,
    PeakMember,
    Unbalanced,
    UnevenTopic,
    Violated,
)
from oracle.strict_record import StrictRecord
from rebalance import (
    Count,
    Figures,
    Optional,
)

FORMAT: Final = "explanation/1"


AnyStatement = Annotated[
    Violated
    | Gap
    | Unbalanced
    | ImprovingChain
    | UnevenTopic
    | ClaimExchange
    | MovesGivenBack
    | PeakMember
    | BetterAssignment
    | TightBlock
    | CrowdedClaims
    | OutrankedClaims
    | LowerBound
    | Certified
    | Uncheckable,
    Field(discriminator="kind"),
]
Verdict = Literal["best", "not-best", "invalid", "infeasible", "unknown"]


class Explanation(StrictRecord):
    """Whether an assignment is the best one under a policy, and why."""

    format: Literal["explanation/1"] = FORMAT
    """Name and version of the format."""

    group: str
    """Group of the instance."""

    id: Optional[str] = None
    """Id of the instance."""

    policy: str
    """The policy, in its text form."""

    subject: Literal["given", "optimum"]
    """``given``, or ``optimum`` if no assignment was given."""

    answer: Verdict
    """``best``: proved, or by the report of a search, which a statement then says.
    ``not-best``: a better one is known. ``invalid``: a rule is violated.
    ``infeasible``: no assignment satisfies the policy. ``unknown``: no better one is
    known, and that none exists is not proved."""

    figures: Optional[Figures] = None
    """Of the assignment, counted by the judge."""

    statements: list[AnyStatement]
    """In the order in which they answer the question."""

    more: dict[str, Count] = Field(default={})
    """Statements that are not listed, by kind."""

    withdrawn: Count = 0
    """Statements that failed their check: a defect of this program."""

    reason: Optional[str] = None
    """Why nothing is proved, or no assignment exists."""
