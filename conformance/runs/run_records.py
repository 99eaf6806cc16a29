"""Records of a run: findings (finding/1), and counts per family (run/1).

A record is enough to repeat or to dispute its statements: the instance, the answer of
every round, the optimum with its certificate, and the command.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field

from conformance.runs.categories import Category, Mechanism
from conformance.strict_model import Day, StrictModel
from rebalance import (
    AssignmentDocument,
    Count,
    Figures,
    Optional,
    Rebalance,
    parse_record,
)

CategoryName = Literal[
    "hang",
    "crash",
    "error",
    "invalid",
    "unrevoked",
    "restless",
    "nondeterministic",
    "slow",
    "kip54-unbalanced",
    "unbalanced",
    "needless-moves",
    "optimal",
]
FILE: Final = "file"
"""The family of instances that were given, not drawn."""


class _RecordPart(StrictModel):
    """Part of a record; the docstrings of its fields are those of the schema."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class SubjectRecord(_RecordPart):
    """Tested assignor or command."""

    name: str
    """The full specification of a client's assignor, or the command."""

    client: Optional[str] = None
    """Client, as the registry of clients names it; absent if it is a command."""

    version: Optional[str] = None
    """Version of the client; absent if it is a command."""

    assignor: Optional[str] = None
    """Assignor of the client; absent if it is a command."""

    language: Optional[str] = None
    """Language of the client; absent if it is a command."""

    command: Optional[str] = None
    """The command line; absent if it is a client of the registry."""


class RoundRecord(_RecordPart):
    """One answer.

    The instance of the first round is that of the record; in each later round, every
    member claims its partitions of the round before, at the next generation.
    """

    verdict: Literal["answered", "error", "invalid", "hang", "crash", "slow"]
    """Whether there is an answer that can be read; ``slow`` if it was not awaited."""

    reason: Optional[str] = None
    """Why not, the defects, or the delay of the answer, in words."""

    members: Optional[dict[str, dict[str, list[Count]]]] = None
    """Partitions by member and topic."""

    violations: Optional[list[dict[str, Any]]] = None
    """The first violations, as in verdict/1."""

    withheld: Optional[Count] = None
    """Partitions that have no member until their owner has revoked them."""

    def without_trace(self) -> RoundRecord:
        """Return the answer with the first line of its reason."""
        return self.model_copy(update={"reason": first_line(self.reason)})


class RepeatRecord(_RecordPart):
    """One of two answers that differ."""

    sent: str
    """The line that the program was sent; the order of members, topics, and
    subscriptions can matter."""

    hash_seed: Optional[Count] = None
    """Of the process (PYTHONHASHSEED, PERL_HASH_SEED); absent: as in the run."""

    new: bool
    """Whether the process was new, so that it was not asked anything before."""

    members: dict[str, dict[str, list[Count]]]
    """Partitions by member and topic."""


class CaseRecord(_RecordPart):
    """An instance, the subject's answer to it, and the best answer."""

    instance: Rebalance
    """The instance."""

    rounds: Annotated[list[RoundRecord], Field(min_length=1)]
    """The answers, one per round."""

    reason: Optional[str] = None
    """The fault or the gap in words."""

    figures: Optional[Figures] = None
    """Of the stable state, counted by the judge against the claims of the instance;
    absent if there is none."""

    needless_moves: Optional[Count] = None
    """Moves beyond the optimum's; absent unless dec-min balanced."""

    expected: AssignmentDocument
    """The optimum: dec-min balance, then stickiness; its certificate proves both."""

    repeats: Optional[
        Annotated[list[RepeatRecord], Field(min_length=2, max_length=2)]
    ] = None
    """Two first answers that differ; absent unless ``nondeterministic``."""


class ShrunkRecord(CaseRecord):
    """A smaller instance with an outcome of the same category and detail."""

    tests: Count
    """Rebalances that were sent in order to find it."""

    minimal: bool
    """Whether no single member, topic, partition, subscription, or claim can be
    removed; false if the budget ran out first."""

    seen: Optional[Annotated[list[Count], Field(min_length=2, max_length=2)]] = None
    """``[k, n]`` if it is flaky: k of n runs of this instance have this outcome."""


class Finding(CaseRecord):
    """An outcome that is not optimal (finding/1)."""

    format: Literal["finding/1"] = "finding/1"
    """Name and version of the format."""

    subject: SubjectRecord
    """The assignor, or the command, under test."""

    cooperative: bool
    """Whether it rebalances in cooperative rounds."""

    family: str
    """Family of the draw; ``file`` for an instance that was given."""

    seed: Optional[Count] = None
    """Seed of the draw; absent for an instance that was given."""

    index: Count
    """Index of the draw, or the place of a given instance, from 0."""

    step: Count
    """Step of the draw."""

    category: CategoryName
    """The kind of fault or gap."""

    detail: str
    """Distinction of outcomes of one category: the first violated rule, the exception,
    the signal, the cause of differing answers; can be empty."""

    place: Optional[str] = None
    """Function and line of the client that failed; absent if it is not known."""

    command: str
    """Command line that repeats the outcome."""

    shrunk: Optional[ShrunkRecord] = None
    """A smaller instance with the same outcome."""


class MechanismRecord(_RecordPart):
    """How often one kind of outcome was seen."""

    category: CategoryName
    """As in finding/1; findings of one mechanism agree in it."""

    detail: str
    """As in finding/1; findings of one mechanism agree in it."""

    place: Optional[str] = None
    """As in finding/1; findings of one mechanism agree in it."""

    rebalances: Count
    """Rebalances with this outcome."""


class RunSummary(_RecordPart):
    """Counts of one subject and one family (run/1)."""

    format: Literal["run/1"] = "run/1"
    """Name and version of the format."""

    subject: SubjectRecord
    """The assignor, or the command, under test."""

    cooperative: bool
    """Whether it rebalances in cooperative rounds."""

    family: str
    """The family of random rebalances."""

    seed: Optional[Count] = None
    """Seed of the draws; absent for given instances."""

    first: Count
    """Index of the first draw."""

    draws: Count
    """Draws of the family."""

    rebalances: Count
    """Rebalances, several per draw under churn."""

    answers: Count
    """Answers, several per rebalance in cooperative rounds."""

    outcomes: dict[CategoryName, Count]
    """Rebalances per category; every category is present. Those that are
    ``nondeterministic`` have another category in addition."""

    mechanisms: Optional[list[MechanismRecord]] = None
    """The outcomes that are not optimal, by the distinctions of findings, the worst
    first."""

    repeated: Optional[Count] = None
    """Rebalances whose first answer was compared with that of another process; absent
    if answers were not repeated."""

    deterministic: Optional[bool] = None
    """Whether the assignor is declared deterministic; absent if answers were not
    repeated."""

    needless_moves: Count
    """Sum over the dec-min balanced outcomes."""

    most_rounds: Count
    """Largest number of rounds to a stable state."""

    date: Day
    """Day of the run, UTC."""

    oracle: str
    """Version of this program."""


def parse_finding(text: bytes | str) -> Finding:
    """Read a finding/1 document.

    Raises
    ------
    DocumentError
        If the text is not such a record.
    """
    return parse_record(Finding, text)


def parse_run(text: bytes | str) -> RunSummary:
    """Read a run/1 document.

    Raises
    ------
    DocumentError
        If the text is not such a record.
    """
    return parse_record(RunSummary, text)


def first_line(reason: str | None) -> str | None:
    """Return a reason without its stack trace, which states paths and addresses."""
    return None if reason is None else reason.strip().partition("\n")[0]


def mechanism_counts(mechanisms: dict[Mechanism, int]) -> list[MechanismRecord]:
    """Return the counts by mechanism, worst first."""
    order = list(Category)
    by_rank = sorted(
        mechanisms, key=lambda mechanism: (order.index(mechanism[0]), *mechanism[1:])
    )
    return [
        MechanismRecord(
            category=category.value,
            detail=detail,
            **({"place": place} if place else {}),
            rebalances=mechanisms[category, detail, place],
        )
        for category, detail, place in by_rank
    ]


def outcome_counts(outcomes: dict[Category, int]) -> dict[CategoryName, int]:
    """Return the counts of every category by name, worst first."""
    return {category.value: outcomes.get(category, 0) for category in Category}
