"""Answers that a process keeps by code.

Reaches into ``pipeline.judging`` and ``pipeline.audit`` to count what is evaluated.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa
import pytest
from pyspark import cloudpickle

from heuristics import ASSIGNORS
from pipeline.audit import stages
from pipeline.audit.judged import PART
from pipeline.audit.stored_work import CASES
from pipeline.judging.evaluated import EvaluatedCodes, codes_of_process
from pipeline.rows import CASE
from rebalance import ClaimRule
from tests.pipeline.judging.coded import SIZE, by_code, churn_settings, question_of
from tests.pipeline.recorded import churn_rows
from tests.support.shapes import CHAIN, member, rebalance


def test_the_memory_is_bounded_and_the_oldest_is_dropped() -> None:
    documents = [
        rebalance({"t": count}, {"a": member(["t"]), "b": member(["t"])})
        for count in range(1, 5)
    ]
    rule = ClaimRule.NEWEST_CLAIM
    questions = [
        replace(question_of(document, assignors=("optimum",)), claim_rule=rule)
        for document in documents
    ]
    whole = EvaluatedCodes(claim_rule=rule)
    for document, question in zip(documents, questions, strict=True):
        by_code(document, question, whole)
    most = whole.n_bytes // 2 + 100
    known = EvaluatedCodes(claim_rule=rule, most_bytes=most)
    for i in (0, 1, 0, 2, 0, 1, 3):
        assert by_code(documents[i], questions[i], known) is not None
        assert known.n_bytes <= most
    assert (known.found, known.evaluated) == (2, 5)
    kept = known.n_bytes
    large = rebalance({"t": SIZE}, {"a": member(["t"])})
    assert by_code(large, question_of(large, assignors=("optimum",)), known) is not None
    assert known.n_bytes == kept  # nothing was dropped for it
    nothing = EvaluatedCodes(claim_rule=rule, most_bytes=0)
    assert by_code(documents[0], questions[0], nothing) is not None
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


def test_bug_tasks_of_one_process_share_what_it_keeps() -> None:
    """Each task received a copy of its own, so all were evaluated once per task."""
    case = next(row for row in churn_rows() if row["what"] == CASE)
    settings = replace(churn_settings(), assignors=())
    judge = partial(stages.judge_batches, settings=settings)
    sent = cloudpickle.dumps(judge)  # type: ignore[no-untyped-call]
    rows = pa.RecordBatch.from_pylist([case | {PART: 0}], schema=CASES)
    known, judged = codes_of_process(settings.claim_rule), []
    for count in (1, 0):
        before = known.evaluated, known.found
        task = cloudpickle.loads(sent)
        judged.append([batch.to_pydict() for batch in task([rows])])
        after = known.evaluated, known.found
        assert after == (before[0] + count, before[1] + 1 - count)
    assert judged[0] == judged[1]
