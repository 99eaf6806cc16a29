"""Rebalances evaluated by their codes, and what is asked of them."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import orjson

from pipeline.case_table import case_table
from pipeline.cases import Case, CaseMember, pack
from pipeline.evaluation import DEFAULT
from pipeline.judging.evaluated import EvaluatedCodes
from pipeline.judging.instance_batch import InstanceBatch, instance_batch
from pipeline.judging.judged_batch import JudgedBatch
from pipeline.judging.outcome import Actual, JudgedRebalance, Question, outcome_of
from pipeline.judging.settings import Settings
from pipeline.judging.stated_cases import stated_case
from pipeline.side_files.sidecars import read_offsets
from rebalance import ClaimRule, DocumentError, rebalance_of
from tests.pipeline.cluster_facts import UNKNOWN, usual_settings
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
    """Ask for assignors and an answer of the client, which can break most rules.

    A case has an answer of each of its members, without topics of no partitions.
    """
    rng = Random(seed)  # noqa: S311
    drawn = draw_any_assignment(rng, document)["members"] if document["members"] else {}
    held = {
        name: {t: drawn[name][t] for t in sorted(drawn.get(name, ())) if drawn[name][t]}
        for name in document["members"]
    }
    cooperative = rng.random() < 0.5
    actual = Actual(held=held, assignor=client, cooperative=cooperative)
    return Question(
        claim_rule=rng.choice(list(ClaimRule)),
        assignors=assignors,
        actual=actual if held else None,
        lag_known=bool(document["topics"])
        and all(
            "lag" in topic or not topic["partitions"]
            for topic in document["topics"].values()
        ),
    )


def batch_of(document: Document, question: Question) -> InstanceBatch:
    """State a rebalance whose members have what the client assigned."""
    actual = question.actual
    answer = {} if actual is None else actual.held
    case = Case(
        rebalance_id="r",
        group_id=document["group"],
        source_kind="rebalance",
        source="s",
        client_assignor=None if actual is None else actual.assignor,
        cooperative=actual is not None and actual.cooperative,
        document=orjson.dumps(document).decode(),
        members={
            name: CaseMember(subscription=[], owned={}, assigned=answer.get(name, {}))
            for name in document["members"]
        }
        if actual is not None
        else None,
    )
    facts = replace(UNKNOWN, max_partitions=SIZE)
    table = case_table([pack(stated_case(case, facts))])
    return instance_batch(table, facts, are_named=True)


def by_code(
    document: Document, question: Question, known: EvaluatedCodes | None = None
) -> JudgedRebalance | None:
    """Evaluate a rebalance; None if a code does not state it."""
    try:
        batch = batch_of(document, question)
    except DocumentError:
        return None
    asked = usual_settings(
        replace(UNKNOWN, max_partitions=SIZE),
        claim_rule=question.claim_rule,
        assignors=question.assignors,
    )
    known = known or EvaluatedCodes(claim_rule=question.claim_rule)
    found = JudgedBatch(batch, asked, known).found()[0]
    return found if isinstance(found, JudgedRebalance) and found.coded else None


def by_document(document: Document, question: Question) -> JudgedRebalance:
    """Let the judge check every answer."""
    return outcome_of(rebalance_of(document, max_partitions=SIZE), question)


def churn_settings() -> Settings:
    rows = churn_rows()
    facts = facts_of(rows, CHURN / "topics.json")
    facts = replace(facts, logs=read_offsets(CHURN / "offsets.json"))
    return usual_settings(facts)
