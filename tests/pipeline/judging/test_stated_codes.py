"""What a code states, and what is left to documents.

Reaches into ``pipeline.judging``, where codes are made and evaluated.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pipeline.judging import instance_batch
from pipeline.judging.evaluated import EvaluatedCodes
from pipeline.judging.outcome import Question
from pipeline.judging.rebalance_code import RebalanceCode
from rebalance import DocumentError, InstanceError
from tests.pipeline.judging.coded import (
    EVEN,
    SIZE,
    batch_of,
    by_code,
    by_document,
    question_of,
)
from tests.support.shapes import Document, member, rebalance


def code(document: Document, question: Question) -> RebalanceCode | None:
    return batch_of(document, question).code_of(0)


def test_different_rebalances_have_different_codes() -> None:
    base = rebalance({"t": 2, "u": 1}, {"a": member(["t"]), "b": member(["u"])})
    others = [
        base,
        rebalance({"t": 2, "u": 1}, {"a": member(["t"]), "b": member(["t"])}),
        rebalance({"t": 1, "u": 2}, {"a": member(["t"]), "b": member(["u"])}),
        rebalance({"t": 2, "u": 1}, {"a": member(["t"], {"t": [0]}), "b": member([])}),
        base | {"members": base["members"] | {"c": member([])}},
    ]
    codes = [code(document, question_of(document)) for document in others]
    codes.append(code(base, replace(question_of(base), actual=None)))
    distinct = {found.code.tobytes() for found in codes if found is not None}
    assert len(distinct) == len(codes)


@pytest.mark.parametrize(
    "document",
    [
        rebalance({"t": {"partitions": 1, "racks": [["r"]]}}, {"a": member(["t"])}),
        rebalance({"t": 3}, {"a": member(["t"]) | {"capacity": 2}}),
        # Java sorts U+1F600 before U+FF5E, Python after it.
        rebalance({"t": 3}, {"\uff5e": member(["t"]), "\U0001f600": member(["t"])}),
        rebalance({"t": {"partitions": 0, "lag": []}}, {"a": member(["t"])}),
        rebalance({"t": 0, "u": {"partitions": 1, "lag": [8]}}, {"a": member(["t"])}),
    ],
)
def test_what_codes_do_not_state_is_left_to_documents(document: Document) -> None:
    assert code(document, question_of(document)) is None


@pytest.mark.parametrize(
    "document",
    [
        rebalance({"t": 1}, {"a": member(["t", "t"])}),
        rebalance({"t": 1}, {"a": member(["t"], {"t": [0, 0]})}),
        rebalance({"t": {"partitions": 2, "lag": [1]}}, {"a": member(["t"])}),
        rebalance({"t": SIZE, "u": 1}, {"a": member(["t"])}),
    ],
)
def test_faults_of_documents_are_named_before(document: Document) -> None:
    with pytest.raises(DocumentError):
        code(document, question_of(EVEN))


def test_many_classes_of_many_topics_are_left_to_documents(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert code(EVEN, question_of(EVEN)) is not None
    monkeypatch.setattr(instance_batch, "PAIRS_MAX", 3)  # two classes, two topics
    assert code(EVEN, question_of(EVEN)) is None


def test_an_error_names_the_item_of_the_rebalance() -> None:
    document = rebalance({"t": 1}, {"a": member(["t", "t"])})
    question = question_of(document)
    assert by_code(document, question) is None
    with pytest.raises(DocumentError, match=r"\$\.members\.a\.subscription\[1\]"):
        by_document(document, question)


def test_too_much_lag_is_an_error_of_the_document() -> None:
    most = 2**63 - 1
    document = rebalance(
        {"t": {"partitions": 2, "lag": [most, most]}}, {"a": member(["t"])}
    )
    question = question_of(document)
    assert by_code(document, question) is None
    with pytest.raises(InstanceError, match="total lag"):
        by_document(document, question)


def test_a_proof_that_fails_is_left_to_the_document(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unproved(_: Any, requests: list[Any]) -> list[None]:
        return [None] * len(requests)

    monkeypatch.setattr(EvaluatedCodes, "of_many", unproved)
    assert by_code(EVEN, question_of(EVEN)) is None
