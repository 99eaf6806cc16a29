"""Rows of answers evaluated by code equal those that the judge gives.

Reaches into ``pipeline.judging`` to compare the two ways, and what is kept.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any, cast

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyspark import cloudpickle
from pyspark.errors import PythonException
from pyspark.sql import DataFrame

from heuristics import ASSIGNORS
from pipeline.audit import lazy_spark, stages
from pipeline.audit.judged import PART
from pipeline.audit.work import CASES
from pipeline.evaluation import COLUMNS, DEFAULT, JUDGE, DisagreementError
from pipeline.judging import evaluated, rebalance_code
from pipeline.judging.answer_table import SHARED, answer_batch
from pipeline.judging.coded_answers import CodedAnswers
from pipeline.judging.evaluated import EvaluatedCodes, codes_of_process
from pipeline.judging.instances import Posed, World
from pipeline.judging.judge_rows import judge_rows
from pipeline.judging.outcome import (
    Actual,
    Outcome,
    Question,
    outcome_by_code,
    outcome_of,
)
from pipeline.judging.rebalance_code import RebalanceCode, code_of
from pipeline.judging.settings import Settings
from pipeline.sources.rows import CASE, ROWS
from pipeline.sources.sidecars import read_offsets
from pipeline.tables import SCHEMAS
from rebalance import ClaimRule, DocumentError, InstanceError
from tests.examples import costly
from tests.pipeline.judged_cases import judge_case_rows, rows_of
from tests.pipeline.recorded import CHURN, churn_rows, world_of
from tests.pipeline.test_judge_rows import document_case
from tests.shapes import CHAIN, EVERY_FIELD, RACKS, SHAPES, Document, member, rebalance
from tests.strategies import LARGER, draw_any_assignment, rebalances

SIZE = 10_000
EVEN = rebalance(
    {"t": {"partitions": 4, "lag": [5, 0, 2, 9]}, "u": {"partitions": 1}},
    {"a": member(["t", "u"], {"t": [0, 1, 2]}), "b": member(["t"])},
)
QUICK = tuple(name for name in DEFAULT if name != "lag-swaps")


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
        and all("lag" in one for one in document["topics"].values()),
        max_partitions=SIZE,
    )


def posed(document: Document, question: Question) -> Posed:
    return Posed(
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
    return outcome_by_code(posed(document, question), question, known)


def unnamed(count: int) -> pa.RecordBatch:
    """Return rebalances of which nothing is known."""
    columns = pa.schema([SCHEMAS["answers"].field(name) for name in SHARED])
    return pa.RecordBatch.from_pylist([{}] * count, schema=columns)


def answer_rows(found: Outcome) -> dict[str, dict[str, Any]]:
    """Return the rows of answers by assignor, without what judged them."""
    rows = pa.RecordBatch.from_pylist([*found.answers], SCHEMAS["answers"]).to_pylist()
    if found.coded is not None:
        rows += answer_batch(unnamed(1), [found.coded]).to_pylist()
    return {row["assignor"]: row | {"judged_by": None} for row in rows}


def without(document: Document) -> Document:
    """Return a document without what codes do not state."""
    members = {
        name: {key: value for key, value in one.items() if key != "capacity"}
        for name, one in document["members"].items()
    }
    topics = {
        name: {key: value for key, value in one.items() if key != "racks"}
        for name, one in document["topics"].items()
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
    expected = outcome_of(posed(document, question).document, question)
    counts = (expected.topics, expected.partitions, expected.owned)
    assert (found.topics, found.partitions, found.owned) == counts
    assert answer_rows(found) == answer_rows(expected)
    other, again = renamed(document, question, seed)
    found = by_code(other, again, known)
    assert found is not None
    expected = outcome_of(posed(other, again).document, again)
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
    for one in document["members"].values():
        topics.update(one["subscription"], one.get("owned", ()))
        racks.update({one["rack"]} if "rack" in one else ())
        static.update({one["instance_id"]} if "instance_id" in one else ())
    member_of, topic_of, rack_of, static_of = (
        in_order(names, seed + i)
        for i, names in enumerate((members, topics, racks, static))
    )
    named: dict[str, Any] = {}
    for name, one in document["members"].items():
        new = one | {"subscription": [topic_of[t] for t in one["subscription"]]}
        if "owned" in one:
            new["owned"] = {topic_of[t]: held for t, held in one["owned"].items()}
        if "rack" in one:
            new["rack"] = rack_of[one["rack"]]
        if "instance_id" in one:
            new["instance_id"] = static_of[one["instance_id"]]
        named[member_of[name]] = new
    listed = {topic_of[name]: one for name, one in document["topics"].items()}
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


def churn_settings() -> Settings:
    rows = churn_rows()
    world = world_of(rows, CHURN / "topics.json")
    world = replace(world, logs=read_offsets(CHURN / "offsets.json"))
    return Settings(cluster="c", world=world, claim_rule=ClaimRule.NEWEST_CLAIM)


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
    monkeypatch.setattr("pipeline.judging.judge_rows.outcome_by_code", lambda *_: None)
    assert rows(filled) == found


def with_nulls(name: str, row: dict[str, Any]) -> list[str]:
    """Return a row as texts that can be sorted, without what judged it."""
    whole = pa.RecordBatch.from_pylist([row | {"judged_by": None}], SCHEMAS[name])
    return [f"{column}={value!r}" for column, value in whole.to_pylist()[0].items()]


def test_the_judge_checks_a_sample_and_what_is_asked() -> None:
    settings = replace(churn_settings(), assignors=("actual", "optimum", "range"))
    cases = [row for row in churn_rows() if row["what"] == CASE][:48]

    def judges(settings: Settings) -> list[tuple[str, str]]:
        found = rows_of(judge_rows(cases, settings))
        return [
            (row["assignor"], row["judged_by"])
            for name, row in found
            if name == "answers" and row["verdict"] == "valid"
        ]

    sampled = judges(settings)
    assert {by for _, by in sampled} == {JUDGE, COLUMNS}
    every = judges(replace(settings, are_optima_judged=True))
    assert {by for name, by in every if name != "range"} == {JUDGE}
    assert [one for one in every if one[0] == "range"] == [
        one for one in sampled if one[0] == "range"
    ]


def code(document: Document, question: Question) -> RebalanceCode | None:
    return code_of(
        document,
        None if question.actual is None else question.actual.held,
        cooperative=False,
        lag_known=question.lag_known,
        max_partitions=SIZE,
    )


def test_different_rebalances_have_different_codes() -> None:
    base = rebalance({"t": 2, "u": 1}, {"a": member(["t"]), "b": member(["u"])})
    others = [
        base,
        rebalance({"t": 2, "u": 1}, {"a": member(["t"]), "b": member(["t"])}),
        rebalance({"t": 1, "u": 2}, {"a": member(["t"]), "b": member(["u"])}),
        rebalance({"t": 2, "u": 1}, {"a": member(["t"], {"t": [0]}), "b": member([])}),
        base | {"members": base["members"] | {"c": member([])}},
    ]
    codes = [code(one, question_of(one)) for one in others]
    codes.append(code(base, replace(question_of(base), actual=None)))
    assert len({one.code.tobytes() for one in codes if one is not None}) == len(codes)


@pytest.mark.parametrize(
    "document",
    [
        rebalance({"t": {"partitions": 1, "racks": [["r"]]}}, {"a": member(["t"])}),
        rebalance({"t": 3}, {"a": member(["t"]) | {"capacity": 2}}),
        # Java sorts U+1F600 before U+FF5E, Python after it.
        rebalance({"t": 3}, {"\uff5e": member(["t"]), "\U0001f600": member(["t"])}),
        rebalance({"t": 1}, {"a": member(["t", "t"])}),
        rebalance({"t": 1}, {"a": member(["t"], {"t": [0, 0]})}),
        rebalance({"t": {"partitions": 2, "lag": [1]}}, {"a": member(["t"])}),
        rebalance({"t": {"partitions": 0, "lag": []}}, {"a": member(["t"])}),
        rebalance({"t": 0, "u": {"partitions": 1, "lag": [8]}}, {"a": member(["t"])}),
        rebalance({"t": SIZE, "u": 1}, {"a": member(["t"])}),
    ],
)
def test_what_codes_do_not_state_is_left_to_documents(document: Document) -> None:
    assert code(document, question_of(EVEN)) is None


def test_many_classes_of_many_topics_are_left_to_documents(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert code(EVEN, question_of(EVEN)) is not None
    monkeypatch.setattr(rebalance_code, "PAIRS_MAX", 3)  # two classes, two topics
    assert code(EVEN, question_of(EVEN)) is None


def test_an_error_names_the_item_of_the_rebalance() -> None:
    document = rebalance({"t": 1}, {"a": member(["t", "t"])})
    question = question_of(document)
    assert by_code(document, question) is None
    with pytest.raises(DocumentError, match=r"\$\.members\.a\.subscription\[1\]"):
        outcome_of(posed(document, question).document, question)


def test_too_much_lag_is_an_error_of_the_document() -> None:
    most = 2**63 - 1
    document = rebalance(
        {"t": {"partitions": 2, "lag": [most, most]}}, {"a": member(["t"])}
    )
    question = question_of(document)
    assert by_code(document, question) is None
    with pytest.raises(InstanceError, match="total lag"):
        outcome_of(posed(document, question).document, question)


def test_the_memory_is_bounded_and_the_oldest_is_dropped() -> None:
    documents = [
        rebalance({"t": count}, {"a": member(["t"]), "b": member(["t"])})
        for count in range(1, 5)
    ]
    rule = ClaimRule.NEWEST_CLAIM
    asked = [
        replace(question_of(one, assignors=("optimum",)), claim_rule=rule)
        for one in documents
    ]
    whole = EvaluatedCodes(claim_rule=rule)
    for one in zip(documents, asked, strict=True):
        by_code(*one, whole)
    most = whole.n_bytes // 2 + 100
    known = EvaluatedCodes(claim_rule=rule, most_bytes=most)
    for i in (0, 1, 0, 2, 0, 1, 3):
        assert by_code(documents[i], asked[i], known) is not None
        assert known.n_bytes <= most
    assert (known.found, known.evaluated) == (2, 5)
    kept = known.n_bytes
    large = rebalance({"t": SIZE}, {"a": member(["t"])})
    assert by_code(large, question_of(large, assignors=("optimum",)), known) is not None
    assert known.n_bytes == kept  # nothing was dropped for it
    nothing = EvaluatedCodes(claim_rule=rule, most_bytes=0)
    assert by_code(documents[0], asked[0], nothing) is not None
    assert nothing.n_bytes == 0


def test_failures_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise ZeroDivisionError

    question = question_of(CHAIN, assignors=("range",))
    known = EvaluatedCodes(claim_rule=question.claim_rule)
    with monkeypatch.context() as patched:
        patched.setattr(type(ASSIGNORS["range"]), "assign", fail)
        found = by_code(CHAIN, question, known)
        assert found is not None
        (failure,) = found.failures
        assert failure.assignor == "range"
    found = by_code(CHAIN, question, known)
    assert found is not None
    assert found.failures == ()


def test_a_difference_stops_the_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    verdict = CodedAnswers.verdict

    def wrong(self: CodedAnswers, place: int) -> dict[str, Any]:
        found = verdict(self, place)
        found["figures"]["kept"] += 1
        return found

    monkeypatch.setattr(CodedAnswers, "verdict", wrong)
    monkeypatch.setattr(evaluated, "SAMPLE", 1)
    settings = Settings(
        cluster="c", world=World(), claim_rule=ClaimRule.NEWEST_CLAIM, assignors=DEFAULT
    )
    with pytest.raises(
        DisagreementError,
        match=r"rebalance r: .*: the judge and the figures from columns differ",
    ):
        list(judge_case_rows(document_case(EVEN), settings))
    assert DisagreementError.exit_code == 70


def test_a_proof_that_fails_is_left_to_the_document(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unproved(*_: Any) -> None:
        return None

    monkeypatch.setattr(EvaluatedCodes, "of", unproved)
    assert by_code(EVEN, question_of(EVEN)) is None


def test_spark_passes_the_difference_on() -> None:
    """Reaches into ``pipeline.audit``, because a worker is no part of this test."""
    trace = "Traceback (most recent call last):\n  ...\n"
    name = f"{DisagreementError.__module__}.DisagreementError"
    raised = PythonException(f"{trace}{name}: rebalance 0/7: range: they differ\n")
    found = lazy_spark.failure_of(raised, Path("out"))
    assert isinstance(found, DisagreementError)
    assert str(found) == "rebalance 0/7: range: they differ"


class Sent:
    """Stands in for a table; keeps the function as Spark sends it to a worker."""

    function = b""

    def mapInArrow(self, function: Any, _schema: Any) -> Sent:  # noqa: N802
        self.function = cloudpickle.dumps(function)  # type: ignore[no-untyped-call]
        return self


def test_bug_tasks_of_one_process_share_what_it_keeps() -> None:
    """Each task received a copy of its own, so all were evaluated once per task."""
    sent = Sent()
    case = next(row for row in churn_rows() if row["what"] == CASE)
    asked = replace(churn_settings(), assignors=())
    stages.judge(cast("DataFrame", sent), asked)
    rows = pa.RecordBatch.from_pylist([case | {PART: 0}], schema=CASES)
    known, judged = codes_of_process(asked.claim_rule), []
    for count in (1, 0):
        before = known.evaluated, known.found
        task = cloudpickle.loads(sent.function)
        judged.append([batch.to_pydict() for batch in task([rows])])
        after = known.evaluated, known.found
        assert after == (before[0] + count, before[1] + 1 - count)
    assert judged[0] == judged[1]


def test_batches_are_those_of_all_rebalances() -> None:
    settings = replace(churn_settings(), assignors=("actual", "optimum"))
    cases = [row for row in churn_rows() if row["what"] == CASE][:8]
    together = [*rows_of(judge_rows(cases, settings))]
    alone = [rows_of(judge_rows([one], settings)) for one in cases]

    def answers(rows: Any) -> list[Any]:
        return [row for name, row in rows if name == "answers"]

    assert answers(together) == answers(chain(*alone))
