"""Verdicts computed from columns equal the judge's; a difference stops the audit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from pyspark.errors import PythonException

from heuristics import ASSIGNORS
from pipeline.audit import lazy_spark
from pipeline.evaluation import (
    COLUMNS,
    DEFAULT,
    JUDGE,
    Answer,
    ColumnFigures,
    DisagreementError,
    Evaluation,
    can_count,
)
from pipeline.judging import repeats
from pipeline.judging.canonical import Canonical, Names
from pipeline.judging.instances import World
from pipeline.judging.judge_rows import Settings, judge_case_safely
from rebalance import (
    Assignment,
    ClaimRule,
    InstanceError,
    instance_of,
    rebalance_of,
)
from tests.examples import costly
from tests.pipeline.test_judge_rows import document_case
from tests.shapes import CHAIN, LAG, RACKS, Document, member, rebalance
from tests.strategies import LARGER, rebalances

EVEN = rebalance(
    {"t": {"partitions": 4, "lag": [5, 0, 2, 9]}, "u": {"partitions": 1}},
    {"a": member(["t", "u"], {"t": [0, 1, 2]}), "b": member(["t"])},
)


NAMES = Names(
    group="g",
    identity=None,
    assignor=None,
    members=(),
    topics=(),
    instance_ids=(),
    racks=(),
)


def answers(document: Document, *, is_sampled: bool) -> dict[str, Answer] | None:
    try:
        evaluation = Evaluation(
            rebalance_of(document), ClaimRule.NEWEST_CLAIM, is_sampled=is_sampled
        )
    except InstanceError:  # too much lag
        return None
    found = evaluation.answers([name for name in DEFAULT if name != "lag-swaps"])
    return {one.assignor: one for one in found if isinstance(one, Answer)}


def without_id(verdict: dict[str, Any] | None) -> dict[str, Any] | None:
    return verdict and {key: told for key, told in verdict.items() if key != "id"}


def agree(document: Document) -> int:
    """Compare both ways; return the number of verdicts computed from columns."""
    by_judge = answers(document, is_sampled=True)
    by_both = answers(document, is_sampled=False)
    if by_judge is None or by_both is None:
        assert by_judge is by_both
        return 0
    assert by_judge.keys() == by_both.keys()
    for name, answer in by_both.items():
        same = by_judge[name]
        assert without_id(answer.verdict) == without_id(same.verdict), name
        assert answer.assignment == same.assignment, name
        assert same.judged_by == (None if same.refused else JUDGE)
    return sum(one.judged_by == COLUMNS for one in by_both.values())


@pytest.mark.heavy
@costly()
@given(rebalances())
@example(RACKS)
@example(LAG)
@example(CHAIN)
@example(EVEN)
def test_verdicts_from_columns_are_the_judges(document: Document) -> None:
    agree(document)


@pytest.mark.heavy
@settings(deadline=None)
@given(rebalances(LARGER))
def test_verdicts_of_larger_groups_are_the_judges(document: Document) -> None:
    agree(document)


def test_balanced_answers_are_computed_from_columns() -> None:
    assert agree(EVEN) > 5
    found = answers(EVEN, is_sampled=False)
    assert found is not None
    assert found["optimum"].judged_by == JUDGE
    uneven = rebalance(
        {"t": 1, "u": 1}, {"a": member(["t", "u"]), "b": member(["t", "u"])}
    )
    found = answers(uneven, is_sampled=False)
    assert found is not None
    assert found["range"].judged_by == JUDGE  # the first gets one of each topic
    assert found["sticky"].judged_by == COLUMNS


def test_capacities_are_left_to_the_judge() -> None:
    members = {"a": member(["t"]) | {"capacity": 2}, "b": member(["t"])}
    document = rebalance({"t": 3}, members)
    assert not can_count(instance_of(rebalance_of(document)))
    assert agree(document) == 0


@pytest.mark.parametrize(
    ("assignee", "is_valid"),
    [
        ([0, 0, 1, 1, 0], True),
        ([0, 0, 1, 1, 1], False),  # b does not subscribe to u
        ([0, 0, 1, -1, 0], False),
    ],
)
def test_an_invalid_answer_is_left_to_the_judge(
    assignee: list[int], *, is_valid: bool
) -> None:
    columns = ColumnFigures(instance_of(rebalance_of(EVEN)), [3, 2], None)
    answer = Assignment(assignee=np.array(assignee, np.int32))
    assert (columns.verdict(answer) is not None) == is_valid


def test_a_difference_stops_the_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    verdict = ColumnFigures.verdict

    def wrong(self: ColumnFigures, assignment: Assignment) -> dict[str, Any] | None:
        found = verdict(self, assignment)
        if found is not None:
            found["figures"]["kept"] += 1
        return found

    monkeypatch.setattr(ColumnFigures, "verdict", wrong)
    monkeypatch.setattr(repeats, "SAMPLE", 1)
    settings = Settings(
        cluster="c", world=World(), claim_rule=ClaimRule.NEWEST_CLAIM, assignors=DEFAULT
    )
    with pytest.raises(
        DisagreementError,
        match=r"rebalance r: .*: the judge and the figures from columns differ",
    ):
        list(judge_case_safely(document_case(EVEN), settings))
    assert DisagreementError.exit_code == 70


def test_the_sample_is_stated_and_drawn_by_content() -> None:
    chosen = [
        repeats.is_sampled(Canonical(key=str(i).encode(), names=NAMES))
        for i in range(4000)
    ]
    assert abs(sum(chosen) / len(chosen) - 1 / repeats.SAMPLE) < 0.02
    assert repeats.is_sampled(None)
    assert {*ASSIGNORS} < {*DEFAULT}


def test_spark_passes_the_difference_on() -> None:
    """Reaches into ``pipeline.audit``, because a worker is no part of this test."""
    trace = "Traceback (most recent call last):\n  ...\n"
    name = f"{DisagreementError.__module__}.DisagreementError"
    raised = PythonException(f"{trace}{name}: rebalance 0/7: range: they differ\n")
    found = lazy_spark.failure_of(raised, Path("out"))
    assert isinstance(found, DisagreementError)
    assert str(found) == "rebalance 0/7: range: they differ"
