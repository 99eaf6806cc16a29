"""Rebalances evaluated by their codes, and what is asked of them."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from pipeline.evaluation import DEFAULT
from pipeline.judging.evaluated import EvaluatedCodes
from pipeline.judging.instances import CaseInstance
from pipeline.judging.outcome import (
    Actual,
    Outcome,
    Question,
    outcome_by_code,
)
from pipeline.judging.settings import Settings
from pipeline.sources.sidecars import read_offsets
from rebalance import ClaimRule
from tests.pipeline.recorded import CHURN, churn_rows, facts_of
from tests.support.shapes import Document, member, rebalance
from tests.support.strategies import draw_any_assignment

SIZE = 10_000
EVEN = rebalance(
    {"t": {"partitions": 4, "lag": [5, 0, 2, 9]}, "u": {"partitions": 1}},
    {"a": member(["t", "u"], {"t": [0, 1, 2]}), "b": member(["t"])},
)


def question_of(
    document: Document,
    seed: int = 0,
    *,
    assignors: tuple[str, ...] = DEFAULT,
    client: str | None = "sticky",
) -> Question:
    """Ask for assignors and an answer of the client that can break any rule."""
    rng = Random(seed)  # noqa: S311
    held = draw_any_assignment(rng, document)["members"] if document["members"] else {}
    return Question(
        claim_rule=rng.choice(list(ClaimRule)),
        assignors=assignors,
        actual=Actual(held=held, assignor=client, cooperative=rng.random() < 0.5),
        lag_known=bool(document["topics"])
        and all("lag" in topic for topic in document["topics"].values()),
        max_partitions=SIZE,
    )


def stated(document: Document, question: Question) -> CaseInstance:
    return CaseInstance(
        plain=document,
        max_partitions=SIZE,
        partition_counts="given",
        lag_known=question.lag_known,
        lag_basis=None,
    )


def by_code(
    document: Document, question: Question, known: EvaluatedCodes | None = None
) -> Outcome | None:
    known = known or EvaluatedCodes(claim_rule=question.claim_rule)
    return outcome_by_code(stated(document, question), question, known)


def churn_settings() -> Settings:
    rows = churn_rows()
    facts = facts_of(rows, CHURN / "topics.json")
    facts = replace(facts, logs=read_offsets(CHURN / "offsets.json"))
    return Settings(cluster="c", facts=facts, claim_rule=ClaimRule.NEWEST_CLAIM)
