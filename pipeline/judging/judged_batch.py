"""Many cases of records judged together, by columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from heuristics import ASSIGNORS
from pipeline.case_table import are_of_records
from pipeline.evaluation import KIP54, DisagreementError
from pipeline.judging.answer_table import SHARED, answer_batch
from pipeline.judging.answer_texts import NamedAnswers, assignment_texts
from pipeline.judging.case_instances import member_lags
from pipeline.judging.case_tables import (
    episodes_of,
    members_of_cases,
    rebalances_of,
    with_counts,
)
from pipeline.judging.coded_answers import CodedAnswers
from pipeline.judging.evaluated import EvaluatedCodes
from pipeline.judging.instance_batch import (
    InstanceBatch,
    TooManyPartitionsError,
    instance_batch,
)
from pipeline.judging.outcome import CodedQuestion, Outcome, outcome_of_code
from pipeline.judging.settings import Settings

Row: TypeAlias = dict[str, Any]
Result: TypeAlias = tuple[str, Row | pa.RecordBatch]
"""Name of a table, and a row or several of it."""


@dataclass(slots=True, kw_only=True)
class JudgedTogether:
    """Rows of the cases that columns state.

    Attributes
    ----------
    results : list of Result
    failures : list of (int, str, Exception)
        Cases whose heuristics failed, the heuristic, and its exception.
    left : list of int
        Other cases, to be judged one by one: their faults are stated then.
    """

    results: list[Result] = field(default_factory=list)
    failures: list[tuple[int, str, Exception]] = field(default_factory=list)
    left: list[int] = field(default_factory=list)

    def followed_by(self, other: JudgedTogether, count: int) -> JudgedTogether:
        """Return both; ``count`` is the number of cases of the first."""
        failures = [(count + place, name, why) for place, name, why in other.failures]
        return JudgedTogether(
            results=self.results + other.results,
            failures=self.failures + failures,
            left=self.left + [count + place for place in other.left],
        )


def judge_together(
    table: pa.Table, settings: Settings, known: EvaluatedCodes
) -> JudgedTogether:
    """Judge cases, as in `pipeline.case_table.CASES`.

    Raises
    ------
    DisagreementError
        If the judge disagrees with the computed figures.
    """
    everything = JudgedTogether(left=[*range(len(table))])
    if KIP54 in settings.assignors or settings.facts.monitored:
        return everything  # by their documents
    is_stated = are_of_records(table)
    if not is_stated.any():
        return everything
    try:
        instances = instance_batch(table.filter(pa.array(is_stated)), settings.facts)
    except TooManyPartitionsError:
        half = len(table) // 2
        first, second = table.slice(0, half), table.slice(half)
        found = judge_together(first, settings, known)
        return found.followed_by(judge_together(second, settings, known), half)
    if instances is None:
        return everything
    return _Judging(
        instances, np.flatnonzero(is_stated).tolist(), settings, known
    ).found(np.flatnonzero(~is_stated).tolist())


class _Judging:
    """A batch while it is judged; ``places`` are those of its cases in the input."""

    def __init__(
        self,
        batch: InstanceBatch,
        places: Sequence[int],
        settings: Settings,
        known: EvaluatedCodes,
    ) -> None:
        self._batch, self._places = batch, places
        self._settings, self._known = settings, known
        self._heuristics = tuple(
            name for name in ASSIGNORS if name in settings.assignors
        )
        names = ("group_id", "rebalance_id", "client_assignor")
        columns = [batch.table[name].to_pylist() for name in names]
        self._names = [*zip(*columns, strict=True)]
        self._ends = batch.table["episode"].combine_chunks().is_valid().to_pylist()
        cases = batch.questions.case.tolist()
        self._episode = {case: q for q, case in enumerate(cases)}  # the last one counts

    def found(self, left: list[int]) -> JudgedTogether:
        """Judge the cases; ``left`` are others that are not in the batch."""
        batch, found = self._batch, JudgedTogether(left=left)
        named = self._evaluated()
        written = assignment_texts([*named.values()])
        texts = dict(zip(named, written, strict=True))
        outcomes, steps = dict[int, Outcome](), dict[int, Outcome]()
        for case, place in enumerate(self._places):
            last = self._episode[case] if self._ends[case] else case
            if case not in named or last not in named:
                found.left.append(place)
                continue
            outcome = self._outcome(case, named[case], texts[case])
            outcomes[case] = steps[case] = outcome
            if last != case:
                steps[case] = self._outcome(last, named[last], texts[last])
            found.failures += [
                (place, failure.assignor, failure.error) for failure in outcome.failures
            ]
        found.left.sort()
        counts = np.zeros((len(self._places), 3), np.int64)
        for case, outcome in outcomes.items():
            counts[case] = outcome.topics, outcome.partitions, outcome.owned
        rows = with_counts(self._rebalances(), counts)
        is_judged = np.isin(np.arange(len(self._places)), [*outcomes])
        columns = batch.columns
        sizes = np.diff(columns.cases.member_at)
        lags = member_lags(columns.cases, columns.names, batch.instances, batch.lags)
        members = members_of_cases(rows, columns, batch.held, lags)
        found.results = [
            ("rebalances", rows.filter(pa.array(is_judged))),
            ("members", members.filter(pa.array(np.repeat(is_judged, sizes)))),
            *self._answers(rows, outcomes),
            *self._episodes(rows, steps),
        ]
        return found

    def _evaluated(self) -> dict[int, NamedAnswers]:
        """Evaluate the questions; without those of which the document must be."""
        questions = self._batch.questions
        codes = [self._batch.code_of(q) for q in range(questions.case.size)]
        requests = [
            (question, code, () if is_episode else self._heuristics)
            for question, (code, is_episode) in enumerate(
                zip(codes, questions.is_episode.tolist(), strict=True)
            )
            if code is not None
        ]
        every = self._known.of_many([(code, names) for _, code, names in requests])
        found = dict[int, NamedAnswers]()
        for (question, code, _), answers in zip(requests, every, strict=True):
            if answers is not None:
                group, identity, client = self._names[int(questions.case[question])]
                found[question] = NamedAnswers(
                    code=code,
                    found=answers,
                    group=group,
                    identity=identity,
                    client=client,
                )
        return found

    def _outcome(self, question: int, named: NamedAnswers, texts: list[str]) -> Outcome:
        case = int(self._batch.questions.case[question])
        coded = CodedQuestion(
            is_round=bool(self._batch.questions.is_round[question]),
            lag_known=bool(self._batch.lags.is_known[case]),
            claim_rule=self._settings.claim_rule,
            are_optima_judged=self._settings.are_optima_judged,
            canonical=partial(self._batch.canonical, question),
            held=partial(self._batch.assigned, case),
        )
        try:
            return outcome_of_code(named, texts, coded)
        except DisagreementError as error:
            reason = f"rebalance {named.identity}: {error}"
            raise DisagreementError(reason) from error

    def _rebalances(self) -> pa.RecordBatch:
        batch = self._batch
        texts = batch.texts.slice(0, len(self._places))
        return rebalances_of(
            batch.table,
            batch.columns,
            batch.instances,
            batch.lags.is_known,
            self._settings.cluster,
            texts,
        )

    def _answers(
        self, rebalances: pa.RecordBatch, outcomes: dict[int, Outcome]
    ) -> list[Result]:
        shared = rebalances.select(SHARED)
        coded = [(case, outcome.coded) for case, outcome in outcomes.items()]
        of = shared.take(pa.array([case for case, _ in coded], pa.int64()))
        found: list[Result] = []
        if coded:
            found = [
                (
                    "answers",
                    answer_batch(of, [_certain(answers) for _, answers in coded]),
                )
            ]
        for case, outcome in outcomes.items():
            if outcome.answers:
                (row,) = shared.slice(case, 1).to_pylist()
                found += [("answers", row | answer) for answer in outcome.answers]
        return found

    def _episodes(
        self, rebalances: pa.RecordBatch, steps: dict[int, Outcome]
    ) -> list[Result]:
        ended = {
            case: (step, actual)
            for case, step in steps.items()
            if self._ends[case] and (actual := step.actual) is not None
        }
        if not ended:
            return []
        questions = pa.array([self._episode[case] for case in ended], pa.int64())
        episodes = episodes_of(
            rebalances,
            self._batch.table,
            [*ended],
            [actual for _, actual in ended.values()],
            [step.owned for step, _ in ended.values()],
            self._batch.texts.take(questions),
        )
        return [("episodes", episodes)]


def _certain(coded: CodedAnswers | None) -> CodedAnswers:
    assert coded is not None  # noqa: S101  # of an outcome of a code
    return coded
