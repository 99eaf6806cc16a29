"""Rows of answers evaluated by code equal those that the judge gives.

Reaches into ``pipeline.judging`` to compare the two ways.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyspark.errors import PythonException

from pipeline.audit import lazy_spark
from pipeline.evaluation import COLUMNS, DEFAULT, JUDGE, DisagreementError
from pipeline.judging import evaluated
from pipeline.judging.answer_table import SHARED, answer_batch
from pipeline.judging.coded_answers import CodedAnswers
from pipeline.judging.evaluated import EvaluatedCodes
from pipeline.judging.instance_batch import InstanceBatch
from pipeline.judging.judge_rows import judge_rows
from pipeline.judging.outcome import Actual, JudgedRebalance, Question
from pipeline.judging.settings import Settings
from pipeline.rows import CASE, ROWS
from pipeline.tables import SCHEMAS
from tests.pipeline.cluster_facts import usual_settings
from tests.pipeline.judging.coded import (
    EVEN,
    by_code,
    by_document,
    churn_settings,
    question_of,
)
from tests.pipeline.judging.judged_cases import document_case, judge_case_rows, rows_of
from tests.pipeline.recorded import churn_rows
from tests.support.examples import costly
from tests.support.shapes import (
    CHAIN,
    EVERY_FIELD,
    RACKS,
    SHAPES,
    Document,
    member,
    rebalance,
)
from tests.support.strategies import LARGER, rebalances

QUICK = tuple(name for name in DEFAULT if name != "lag-swaps")


def unnamed(count: int) -> pa.RecordBatch:
    """Return rebalances of which nothing is known."""
    columns = pa.schema([SCHEMAS["answers"].field(name) for name in SHARED])
    return pa.RecordBatch.from_pylist([{}] * count, schema=columns)


def answer_rows(found: JudgedRebalance) -> dict[str, dict[str, Any]]:
    """Return the rows of answers by assignor, without what judged them."""
    lasted = pa.array([1])
    rows = pa.RecordBatch.from_pylist([*found.answers], SCHEMAS["answers"]).to_pylist()
    harm = {"actual": found.harm_row(lasted)}
    rows = [row | harm.get(row["assignor"], {}) for row in rows]
    if found.coded is not None:
        rows += answer_batch(unnamed(1), [found.coded], lasted).to_pylist()
    return {row["assignor"]: row | {"judged_by": None} for row in rows}


def without(document: Document) -> Document:
    """Return a document without what codes do not state."""
    members = {
        name: {key: value for key, value in member.items() if key != "capacity"}
        for name, member in document["members"].items()
    }
    topics = {
        name: {key: value for key, value in topic.items() if key != "racks"}
        for name, topic in document["topics"].items()
    }
    return document | {"members": members, "topics": topics}


def agrees(document: Document, seed: int, assignors: tuple[str, ...]) -> None:
    """Assert that both ways give equal rows, the second time and renamed, too."""
    document = without(document)
    question = question_of(document, seed, assignors=assignors)
    known = EvaluatedCodes(claim_rule=question.claim_rule)
    found = by_code(document, question, known)
    if found is None:  # too much lag, or names that Java sorts differently
        return
    assert found.coded is not None
    expected = by_document(document, question)
    counts = (expected.topics, expected.partitions, expected.owned)
    assert (found.topics, found.partitions, found.owned) == counts
    assert answer_rows(found) == answer_rows(expected)
    if question.actual is None:
        return
    other, again = renamed(document, question, seed)
    found = by_code(other, again, known)
    assert found is not None
    expected = by_document(other, again)
    assert answer_rows(found) == answer_rows(expected)
    assert (known.found, known.evaluated) == (1, 1)


def in_order(names: set[str], seed: int) -> dict[str, str]:
    """Return other names in the same order; an empty name stays empty."""
    rng = Random(seed)  # noqa: S311
    pool = {"~t00000000~", "~g~", '"', "\\", "é", "\uffff", "a b", "\n", "m00000001"}
    while len(pool) < len(names):
        pool.add("".join(rng.choices("~mgtä0,:\u2028", k=4)))
    kept = {""} & names
    chosen = sorted(rng.sample(sorted(pool), len(names - kept)))
    return dict(zip(sorted(names - kept), chosen, strict=True)) | {"": ""}


def renamed(document: Document, question: Question, seed: int) -> Any:
    """Return document and question with other names, equal in order."""
    actual = question.actual
    assert actual is not None
    members = {*document["members"], *actual.held}
    topics, racks, static = {*document["topics"]}, set[str](), set[str]()
    for held in actual.held.values():
        topics.update(held)
    for entry in document["members"].values():
        topics.update(entry["subscription"], entry.get("owned", ()))
        racks.update({entry["rack"]} if "rack" in entry else ())
        static.update({entry["instance_id"]} if "instance_id" in entry else ())
    member_of, topic_of, rack_of, static_of = (
        in_order(names, seed + i)
        for i, names in enumerate((members, topics, racks, static))
    )
    named: dict[str, Any] = {}
    for name, entry in document["members"].items():
        new = entry | {"subscription": [topic_of[t] for t in entry["subscription"]]}
        if "owned" in entry:
            new["owned"] = {topic_of[t]: held for t, held in entry["owned"].items()}
        if "rack" in entry:
            new["rack"] = rack_of[entry["rack"]]
        if "instance_id" in entry:
            new["instance_id"] = static_of[entry["instance_id"]]
        named[member_of[name]] = new
    listed = {topic_of[name]: topic for name, topic in document["topics"].items()}
    other = document | {"group": '~g~"é', "topics": listed, "members": named}
    answer = {
        member_of[name]: {topic_of[t]: numbers for t, numbers in of_one.items()}
        for name, of_one in actual.held.items()
    }
    return other, replace(question, actual=replace(actual, held=answer, assignor="~a~"))


@pytest.mark.heavy
@costly()
@given(rebalances(), st.integers(0, 1000))
@example(RACKS, 1)
@example(EVERY_FIELD, 2)
@example(CHAIN, 3)
@example(rebalance({"t": {"partitions": 0}}, {"a": member([])}), 1)
def test_rows_are_those_of_the_judge(document: Document, seed: int) -> None:
    agrees(document, seed, QUICK)


@pytest.mark.heavy
@costly()
@given(rebalances(LARGER), st.integers(0, 1000))
def test_rows_of_larger_groups_are_those_of_the_judge(
    document: Document, seed: int
) -> None:
    agrees(document, seed, DEFAULT)


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_on_the_named_shapes(name: str) -> None:
    agrees(SHAPES[name], 5, DEFAULT)


@pytest.mark.parametrize("seed", range(12))
def test_on_valid_and_invalid_real_answers(seed: int) -> None:
    agrees(EVEN, seed, ("optimum",))
    agrees(CHAIN, seed, ("optimum",))


@pytest.mark.parametrize(
    "every",
    [
        25,
        pytest.param(4, marks=pytest.mark.heavy),
        pytest.param(1, marks=pytest.mark.nightly),
    ],
)
def test_the_recording_has_equal_rows_both_ways(
    every: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = [row for row in churn_rows() if row["what"] == CASE][::every]
    filled = [{**dict.fromkeys(ROWS.names), **row} for row in cases]
    settings = churn_settings()

    def rows(order: Any) -> list[tuple[str, list[str]]]:
        known = EvaluatedCodes(claim_rule=settings.claim_rule)
        found = rows_of(judge_rows(order, settings, known))
        return sorted((name, with_nulls(name, row)) for name, row in found)

    found = rows(filled)
    assert rows(reversed(filled)) == found
    monkeypatch.setattr(InstanceBatch, "code_of", lambda *_: None)
    assert rows(filled) == found


def test_the_lag_of_needless_moves_is_the_least_of_what_moved() -> None:
    """A joins; of four partitions that move, three need not."""
    document = rebalance(
        {"t": {"partitions": 4, "lag": [40, 10, 20, 30]}},
        {
            "a": member(["t"]),
            "b": member(["t"], {"t": [0, 1]}),
            "c": member(["t"], {"t": [2, 3]}),
        },
    )
    for held, lag in (
        ({"a": [1], "b": [2, 3], "c": [0]}, 10 + 20 + 30),
        ({"a": [1], "b": [0], "c": [2, 3]}, 0),
        ({"a": [], "b": [0, 1], "c": [2, 3]}, None),  # unbalanced
    ):
        given = {name: {"t": numbers} for name, numbers in held.items() if numbers}
        question = replace(
            question_of(document, assignors=("optimum",)),
            actual=Actual(held=given, assignor=None, cooperative=False),
        )
        for found in (
            by_code(document, question),
            by_document(document, question),
        ):
            assert found is not None
            assert answer_rows(found)["actual"]["needless_lag"] == lag
            assert answer_rows(found)["optimum"]["needless_lag"] is None


def with_nulls(name: str, row: dict[str, Any]) -> list[str]:
    """Return a row as texts that can be sorted, without what judged it."""
    whole = pa.RecordBatch.from_pylist([row | {"judged_by": None}], SCHEMAS[name])
    return [f"{column}={value!r}" for column, value in whole.to_pylist()[0].items()]


def test_the_judge_checks_a_sample_and_what_is_requested() -> None:
    sampling = replace(churn_settings(), assignors=("actual", "optimum", "range"))
    cases = [row for row in churn_rows() if row["what"] == CASE][:48]

    def judges(asked: Settings) -> list[tuple[str, str]]:
        found = rows_of(judge_rows(cases, asked))
        return [
            (row["assignor"], row["judged_by"])
            for name, row in found
            if name == "answers" and row["verdict"] == "valid"
        ]

    sampled = judges(sampling)
    assert {by for _, by in sampled} == {JUDGE, COLUMNS}
    every = judges(replace(sampling, are_optima_judged=True))
    assert {by for name, by in every if name != "range"} == {JUDGE}
    assert [pair for pair in every if pair[0] == "range"] == [
        pair for pair in sampled if pair[0] == "range"
    ]


def test_a_difference_stops_the_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    verdict = CodedAnswers.verdict

    def wrong(self: CodedAnswers, place: int) -> dict[str, Any]:
        found = verdict(self, place)
        found["figures"]["kept"] += 1
        return found

    monkeypatch.setattr(CodedAnswers, "verdict", wrong)
    monkeypatch.setattr(evaluated, "SAMPLE", 1)
    with pytest.raises(
        DisagreementError,
        match=r"rebalance r: .*: the judge and the figures from columns differ",
    ):
        list(judge_case_rows(document_case(EVEN), usual_settings(assignors=DEFAULT)))
    assert DisagreementError.exit_code == 70


@pytest.mark.parametrize(
    "after", ["", "\n\tat org.X.y(Z.scala:1)", "\nSQLSTATE: 38000"]
)
def test_spark_passes_the_difference_on(after: str) -> None:
    """Reaches into ``pipeline.audit``, because a worker is no part of this test."""
    trace = "Traceback (most recent call last):\n  ...\n"
    name = f"{DisagreementError.__module__}.DisagreementError"
    said = f"{name}: rebalance 0/7: range: they differ"
    raised = PythonException(f"{trace}{said}\n{after}")
    found = lazy_spark.failure_of(raised, Path("out"))
    assert isinstance(found, DisagreementError)
    assert str(found) == "rebalance 0/7: range: they differ"


def test_batches_are_those_of_all_rebalances() -> None:
    settings = replace(churn_settings(), assignors=("actual", "optimum"))
    cases = [row for row in churn_rows() if row["what"] == CASE][:8]
    together = [*rows_of(judge_rows(cases, settings))]
    alone = [rows_of(judge_rows([case], settings)) for case in cases]

    def answers(rows: Any) -> list[Any]:
        return [row for name, row in rows if name == "answers"]

    assert answers(together) == answers(chain(*alone))
