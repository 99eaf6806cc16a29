"""Many cases judged together, by columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from heuristics import ASSIGNORS
from pipeline.case_table import OF_STATES, case_at, case_table
from pipeline.cases import NOT_REPORTED, SNAPSHOT, pack
from pipeline.evaluation import ACTUAL, KIP54, OPTIMUM, DisagreementError
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
from pipeline.judging.lasted_times import lasted_times
from pipeline.judging.outcome import (
    Actual,
    JudgedRebalance,
    Question,
    outcome_of,
    outcome_of_code,
)
from pipeline.judging.quarantine_rows import failed_row, reason_of
from pipeline.judging.settings import Settings
from pipeline.judging.snapshot_rows import snapshot_row
from pipeline.judging.stated_cases import stated_case
from pipeline.rows import BEGIN_OF_DATES, END_OF_DATES
from rebalance import Bools, DocumentError, parse_rebalance, without_collection

Row: TypeAlias = dict[str, Any]
Result: TypeAlias = tuple[str, Row | pa.RecordBatch]
"""Name of a table, and a row or several of it."""
NO_DATE: Final = "a time that no date states"


def judge_together(
    table: pa.Table, settings: Settings, known: EvaluatedCodes
) -> Iterator[Result]:
    """Judge cases, as in `pipeline.case_table.CASES`; one that fails affects no other.

    Raises
    ------
    DisagreementError
        If the judge disagrees with the computed figures.
    """
    are_dated = _have_dates(table)
    for place in np.flatnonzero(~are_dated).tolist():
        yield failed_row(table, place, f"instance: {NO_DATE}", settings)
    table = _part(table, are_dated)
    is_odd = np.asarray(pc.is_valid(table["document"]))
    if settings.facts.subscriptions.stated:
        is_odd = is_odd | np.asarray(pc.equal(table["subscriptions"], NOT_REPORTED))
    yield from _judged(_part(table, ~is_odd), settings, known)
    yield from _restated(_part(table, is_odd), settings, known)


def _part(table: pa.Table, is_chosen: Bools) -> pa.Table:
    return table if is_chosen.all() else table.filter(pa.array(is_chosen))


def dated_part(table: pa.Table) -> pa.Table:
    """Return the cases of which dates can state all times."""
    return _part(table, _have_dates(table))


def _have_dates(table: pa.Table) -> Bools:
    """Return whether dates can state all times of cases."""
    began = pc.struct_field(table["episode"].combine_chunks(), "started_at")
    found = np.ones(len(table), np.bool_)
    for times in (table["at"], began):
        at = np.asarray(pc.fill_null(times, 0))
        found &= (at >= BEGIN_OF_DATES) & (at < END_OF_DATES)
    return found


def _restated(
    table: pa.Table, settings: Settings, known: EvaluatedCodes
) -> Iterator[Result]:
    """Judge cases that are changed before (`stated_case`)."""
    texts = []
    for place in range(len(table)):
        try:
            texts.append(pack(stated_case(case_at(table, place), settings.facts)))
        except Exception as error:  # noqa: BLE001  # reported in quarantine
            yield failed_row(table, place, reason_of("instance", error), settings)
    if texts:
        yield from _judged(case_table(texts), settings, known, are_named=True)


def _judged(
    table: pa.Table,
    settings: Settings,
    known: EvaluatedCodes,
    *,
    are_named: bool = False,
) -> Iterator[Result]:
    if not len(table):
        return
    try:
        batch = instance_batch(table, settings.facts, are_named=are_named)
    except TooManyPartitionsError:
        is_first = np.arange(len(table)) < len(table) // 2
        for is_part in (is_first, ~is_first):
            part = _part(table, is_part)
            yield from _judged(part, settings, known, are_named=are_named)
        return
    yield from JudgedBatch(batch, settings, known).results()
    is_named = batch.instances.is_named
    if not is_named.all():
        yield from _restated(_part(table, ~is_named), settings, known)


_Found: TypeAlias = Mapping[int, JudgedRebalance | Exception]
"""Answer to each question, or the error that ended it."""


class JudgedBatch:
    """A batch while it is judged."""

    def __init__(
        self, batch: InstanceBatch, settings: Settings, known: EvaluatedCodes
    ) -> None:
        self._batch, self._settings, self._known = batch, settings, known
        self._heuristics = tuple(
            name for name in ASSIGNORS if name in settings.assignors
        )
        names = ("group_id", "rebalance_id", "client_assignor")
        columns = [batch.table[name].to_pylist() for name in names]
        self._names = [*zip(*columns, strict=True)]
        self._case = batch.questions.case.tolist()
        self._is_state = np.asarray(pc.equal(batch.table["owned_from"], SNAPSHOT))
        self._is_document = batch.columns.cases.is_document
        self._ends = batch.table["episode"].combine_chunks().is_valid().to_pylist()
        self._episode = {case: q for q, case in enumerate(self._case)}  # the last one

    def results(self) -> Iterator[Result]:
        """Judge the cases."""
        batch, found = self._batch, self.found()
        outcomes = {
            case: outcome
            for case in range(len(self._names))
            if isinstance(outcome := found.get(case), JudgedRebalance)
        }
        counts = np.zeros((len(self._names), 3), np.int64)
        for case, outcome in outcomes.items():
            counts[case] = outcome.topics, outcome.partitions, outcome.owned
        rows = with_counts(self._rebalances(), counts)
        is_judged = np.isin(np.arange(len(self._names)), [*outcomes])
        columns = batch.columns
        sizes = np.diff(columns.cases.member_at)
        lags = member_lags(columns.cases, columns.names, batch.instances, batch.lags)
        members = members_of_cases(rows, columns, batch.held, lags)
        yield from self._snapshots(rows, outcomes)
        yield "rebalances", rows.filter(pa.array(is_judged & ~self._is_state))
        yield "members", members.filter(pa.array(np.repeat(is_judged, sizes)))
        yield from self._answers(rows, outcomes)
        yield from self._episodes(rows, outcomes, found)
        yield from self._failures(outcomes, found)

    def found(self) -> _Found:
        """Answer the questions of which the topics have names."""
        with without_collection():
            return self._found()

    def _found(self) -> _Found:
        named = self._evaluated()
        written = assignment_texts([*named.values()])
        texts = dict(zip(named, written, strict=True))
        are_named = self._batch.instances.is_named.tolist()
        return {
            question: self._answered(
                case,
                partial(self._by_code, question, named[question], texts[question])
                if question in named
                else partial(self._by_document, question),
            )
            for question, case in enumerate(self._case)
            if are_named[case]
        }

    def _answered(
        self, case: int, find: Callable[[], JudgedRebalance]
    ) -> JudgedRebalance | Exception:
        try:
            return find()
        except DisagreementError as error:
            reason = f"rebalance {self._names[case][1]}: {error}"
            raise DisagreementError(reason) from error
        except Exception as error:  # noqa: BLE001  # reported in quarantine
            return error

    def _evaluated(self) -> dict[int, NamedAnswers]:
        """Evaluate the questions; without those that are left to documents."""
        questions = self._batch.questions
        if KIP54 in self._settings.assignors:
            return {}
        requests = [
            (question, code, () if is_episode else self._heuristics)
            for question, (case, is_episode) in enumerate(
                zip(self._case, questions.is_episode.tolist(), strict=True)
            )
            if not self._is_state[case]
            and (code := self._batch.code_of(question)) is not None
        ]
        every = self._known.of_many([(code, names) for _, code, names in requests])
        found = dict[int, NamedAnswers]()
        for (question, code, _), answers in zip(requests, every, strict=True):
            if answers is not None:
                group, identity, client = self._names[self._case[question]]
                if self._is_document[self._case[question]]:
                    identity = self._batch.canonical(question).get("id")
                found[question] = NamedAnswers(
                    code=code,
                    found=answers,
                    group=group,
                    identity=identity,
                    client=client,
                )
        return found

    def _by_code(
        self, question: int, named: NamedAnswers, texts: list[str]
    ) -> JudgedRebalance:
        batch, settings, case = self._batch, self._settings, self._case[question]
        coded = CodedAnswers(
            code=named.code,
            found=named.found,
            texts=texts,
            are_optima_judged=settings.are_optima_judged,
            is_round=bool(batch.questions.is_round[question]),
            lag_known=bool(batch.lags.is_known[case]),
            claim_rule=settings.claim_rule,
        )
        canonical = partial(batch.canonical, question)
        held = partial(batch.assigned, case)
        return outcome_of_code(coded, settings.claim_rule, canonical, held)

    def _by_document(self, question: int) -> JudgedRebalance:
        """Let the judge check every answer."""
        batch, settings, case = self._batch, self._settings, self._case[question]
        is_episode = batch.questions.is_episode[question]
        assignors = () if self._is_state[case] else settings.assignors
        actual = Actual(
            held=batch.assigned(case),
            assignor=self._names[case][2],
            cooperative=bool(batch.questions.is_round[question]),
        )
        asked = Question(
            claim_rule=settings.claim_rule,
            assignors=tuple(
                name for name in assignors if not is_episode or name in (OPTIMUM, KIP54)
            ),
            actual=actual if batch.questions.is_answered[question] else None,
            lag_known=bool(batch.lags.is_known[case]),
        )
        text, most = self._text(question), settings.facts.max_partitions
        return outcome_of(parse_rebalance(text, max_partitions=most), asked)

    def _text(self, question: int) -> str:
        text: str = self._batch.texts[question].as_py()
        return text

    def _rebalances(self) -> pa.RecordBatch:
        batch = self._batch
        facts = self._settings.facts
        stated = lasted_times(batch.table, facts.history_end) | {
            "lag_known": batch.lags.is_known,
            "lag_basis": batch.lag_basis,
            "lag_missing": batch.lag_missing,
            "instance": batch.texts.slice(0, len(self._names)),
        }
        return rebalances_of(
            batch.table, batch.columns, batch.instances, self._settings.cluster, stated
        )

    def _answers(
        self, rebalances: pa.RecordBatch, outcomes: Mapping[int, JudgedRebalance]
    ) -> Iterator[Result]:
        shared, lasted = rebalances.select(SHARED), rebalances["lasted_ms"]
        coded = {
            case: outcome.coded
            for case, outcome in outcomes.items()
            if outcome.coded is not None
        }
        if coded:
            of = pa.array([*coded], pa.int64())
            yield (
                "answers",
                answer_batch(shared.take(of), [*coded.values()], lasted.take(of)),
            )
        for case, outcome in outcomes.items():
            if outcome.answers and not self._is_state[case]:
                (row,) = shared.slice(case, 1).to_pylist()
                harm = {ACTUAL: outcome.harm_row(lasted.slice(case, 1))}
                for answer in outcome.answers:
                    yield "answers", row | answer | harm.get(answer["assignor"], {})

    def _snapshots(
        self, rebalances: pa.RecordBatch, outcomes: Mapping[int, JudgedRebalance]
    ) -> Iterator[Result]:
        for case, outcome in outcomes.items():
            if self._is_state[case] and (judged := outcome.actual) is not None:
                (stated,) = (
                    self._batch.table.select(OF_STATES).slice(case, 1).to_pylist()
                )
                (row,) = rebalances.slice(case, 1).to_pylist()
                yield "snapshots", snapshot_row(stated, row, judged)

    def _episodes(
        self,
        rebalances: pa.RecordBatch,
        outcomes: Mapping[int, JudgedRebalance],
        found: _Found,
    ) -> Iterator[Result]:
        """Yield episodes, each judged as if it had been one step."""
        steps, answers = list[JudgedRebalance](), dict[int, Row]()
        for case, outcome in outcomes.items():
            if self._ends[case] and (actual := outcome.actual) is not None:
                step = found[self._episode[case]]
                if step is not outcome:  # of several rounds
                    actual = step.actual if isinstance(step, JudgedRebalance) else None
                if isinstance(step, JudgedRebalance) and actual is not None:
                    steps.append(step)
                    answers[case] = actual
        if answers:
            questions = pa.array([self._episode[case] for case in answers], pa.int64())
            yield (
                "episodes",
                episodes_of(
                    rebalances,
                    self._batch.table,
                    [*answers],
                    [*answers.values()],
                    [step.owned for step in steps],
                    self._batch.texts.take(questions),
                ),
            )

    def _failures(
        self, outcomes: Mapping[int, JudgedRebalance], found: _Found
    ) -> Iterator[Result]:
        for question, error in found.items():
            case = self._case[question]
            if not isinstance(error, Exception):
                continue
            if question != case:
                if case in outcomes:
                    yield self._failed(case, reason_of("episode", error))
            elif isinstance(error, DocumentError):
                reason = reason_of("instance", error)
                yield failed_row(self._batch.table, case, reason, self._settings)
            else:
                yield self._failed(case, reason_of("judge", error))
        for case, outcome in outcomes.items():
            for failure in outcome.failures:
                yield self._failed(case, reason_of(failure.assignor, failure.error))

    def _failed(self, case: int, reason: str) -> Result:
        text = self._text(case)
        return failed_row(self._batch.table, case, reason, self._settings, text)
