"""Judge cases: from rows of the sources to rows of the tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import pyarrow as pa

from pipeline.case_table import case_at, case_table
from pipeline.cases import SNAPSHOT, Case, Held, unpack
from pipeline.evaluation import KIP54, OPTIMUM, DisagreementError
from pipeline.judging.answer_table import SHARED, answer_batch
from pipeline.judging.case_rows import day, key_of, member_rows, moment, rebalance_row
from pipeline.judging.coded_answers import CodedAnswers
from pipeline.judging.episode_rows import episode_row
from pipeline.judging.evaluated import EvaluatedCodes
from pipeline.judging.instances import (
    CaseInstance,
    instance_of_case,
    instance_of_episode,
)
from pipeline.judging.judged_batch import Result, judge_together
from pipeline.judging.outcome import (
    Actual,
    Outcome,
    Question,
    outcome_by_code,
    outcome_of,
)
from pipeline.judging.settings import Settings
from pipeline.judging.snapshot_rows import snapshot_row
from pipeline.judging.topic_names import with_names
from pipeline.sources.given_subscriptions import with_given_subscriptions
from pipeline.sources.rows import CASE, CASES, FAILED, Row
from pipeline.table_bytes import from_bytes
from pipeline.tables import SCHEMAS
from rebalance import DocumentError

CASES_PER_BATCH: Final = 256
BYTES_PER_BATCH: Final = 1 << 20
"""Texts of the cases, or of the answers, that are gathered for one batch, about."""


def judge_rows(
    rows: Iterable[Row], settings: Settings, known: EvaluatedCodes | None = None
) -> Iterator[Result]:
    """Judge cases, and pass on rows of quarantine."""
    known = known or EvaluatedCodes(claim_rule=settings.claim_rule)
    judge = CaseJudge(settings, known)
    batches = {CASE: _Texts(), CASES: _Tables()}
    for row in rows:
        batch = batches.get(row["what"])
        if batch is None:
            yield "quarantine", quarantined(row, settings.cluster)
            continue
        batch.add(row)
        if batch.is_full():
            yield from batch.judged(judge, settings, known)
            batches[row["what"]] = type(batch)()
    for batch in batches.values():
        yield from batch.judged(judge, settings, known)
    yield from judge.rest()


class _Batch:
    """Cases that are judged together."""

    def __init__(self) -> None:
        self._values: list[bytes] = []
        self._cases = self._size = 0

    def add(self, row: Row) -> None:
        """Add the cases of a row."""
        self._values.append(row["value"])
        self._cases += row.get("records") or 1
        self._size += len(row["value"])

    def is_full(self) -> bool:
        """Return whether there are enough cases, or bytes."""
        return self._cases >= CASES_PER_BATCH or self._size >= BYTES_PER_BATCH

    def judged(
        self, judge: CaseJudge, settings: Settings, known: EvaluatedCodes
    ) -> Iterator[Result]:
        """Judge by columns, and one by one the cases that columns do not state."""
        table = self.table() if self._values else None
        if table is None:
            for place in range(self._cases):
                yield from judge.case(self.case(place))
            return
        found = judge_together(table, settings, known)
        yield from found.results
        for place, assignor, error in found.failures:
            yield judge.failed(self.case(place), _reason(assignor, error))
        for place in found.left:
            yield from judge.case(self.case(place))

    def table(self) -> pa.Table | None:
        """Return the cases as `pipeline.case_table.CASES`; None if they are not."""
        raise NotImplementedError

    def case(self, place: int) -> Case:
        """Return a case."""
        raise NotImplementedError


class _Texts(_Batch):
    """Cases as texts."""

    def table(self) -> pa.Table | None:
        try:
            return case_table(self._values)
        except pa.ArrowException:  # a number that is too large for its column
            return None

    def case(self, place: int) -> Case:
        return unpack(self._values[place])


class _Tables(_Batch):
    """Cases as tables."""

    def table(self) -> pa.Table:
        return pa.concat_tables(map(from_bytes, self._values)).combine_chunks()

    def case(self, place: int) -> Case:
        return case_at(self.table(), place)


class CaseJudge:
    """Judges cases; answers that are evaluated by code are gathered into batches.

    Parameters
    ----------
    settings : Settings
    known : EvaluatedCodes or None
        With the claim rule of the settings.
    """

    def __init__(self, settings: Settings, known: EvaluatedCodes | None = None) -> None:
        self._settings = settings
        self._known = known or EvaluatedCodes(claim_rule=settings.claim_rule)
        self._gathered: list[tuple[Row, CodedAnswers]] = []
        self._size = 0

    def case(self, case: Case) -> Iterator[Result]:
        """Judge a case; its failure does not affect other cases."""
        settings = self._settings
        try:
            case = with_names(case, settings.facts.names)
            case = with_given_subscriptions(case, settings.facts.subscriptions)
            instance = instance_of_case(case, settings.facts)
        except Exception as error:  # noqa: BLE001  # reported in quarantine
            yield _failed(case, None, _reason("instance", error), settings)
            return
        try:
            judged = self._snapshot if case.owned_from == SNAPSHOT else self._judged
            results = list(judged(case, instance))
        except DisagreementError as error:
            reason = f"rebalance {case.rebalance_id}: {error}"
            raise DisagreementError(reason) from error
        except DocumentError as error:
            yield _failed(case, None, _reason("instance", error), settings)
            return
        except Exception as error:  # noqa: BLE001  # likewise
            yield _failed(case, instance, _reason("judge", error), settings)
            return
        yield from results
        if self._size >= BYTES_PER_BATCH:
            yield from self.rest()

    def failed(self, case: Case, reason: str) -> Result:
        """Return the row of quarantine of a case that a heuristic failed on."""
        case = with_names(case, self._settings.facts.names)
        instance = instance_of_case(case, self._settings.facts)
        return _failed(case, instance, reason, self._settings)

    def rest(self) -> Iterator[Result]:
        """Yield the answers that are gathered."""
        if self._gathered:
            rows, coded = zip(*self._gathered, strict=True)
            shared = [{name: row[name] for name in SHARED} for row in rows]
            kinds = [SCHEMAS["answers"].field(name) for name in SHARED]
            of = pa.RecordBatch.from_pylist(shared, schema=pa.schema(kinds))
            yield "answers", answer_batch(of, coded)
            self._gathered, self._size = [], 0

    def _outcome(self, instance: CaseInstance, question: Question) -> Outcome:
        if KIP54 not in question.assignors:
            found = outcome_by_code(instance, question, self._known)
            if found is not None:
                return found
        return outcome_of(instance.document, question)

    def _snapshot(self, case: Case, instance: CaseInstance) -> Iterator[Result]:
        """Judge a state; no assignor is run, because there is no rebalance."""
        question = self._question(case, instance, (), cooperative=False)
        outcome = outcome_of(instance.document, question)
        cluster = self._settings.cluster
        yield "snapshots", snapshot_row(case, instance, outcome, cluster)
        for member in member_rows(case, instance, cluster):
            yield "members", member

    def _judged(self, case: Case, instance: CaseInstance) -> Iterator[Result]:
        settings, is_round = self._settings, case.cooperative
        question = self._question(
            case, instance, settings.assignors, cooperative=is_round
        )
        outcome = self._outcome(instance, question)
        row = rebalance_row(case, instance, outcome, settings.cluster)
        yield "rebalances", row
        for member in member_rows(case, instance, settings.cluster):
            yield "members", member
        shared = {name: row[name] for name in SHARED}
        for answer in outcome.answers:
            yield "answers", shared | answer
        for failure in outcome.failures:
            yield _failed(
                case, instance, _reason(failure.assignor, failure.error), settings
            )
        if case.episode is not None and outcome.actual is not None:
            try:
                yield "episodes", self._episode(case, row, outcome)
            except DisagreementError:
                raise
            except Exception as error:  # noqa: BLE001  # likewise
                yield _failed(case, instance, _reason("episode", error), settings)
        if outcome.coded is not None:
            self._gathered.append((row, outcome.coded))
            self._size += sum(map(len, outcome.coded.texts)) + len(row["instance"])

    def _episode(self, case: Case, row: Row, outcome: Outcome) -> Row:
        """Judge an episode of several rounds as if it had been one step."""
        text, episode = row["instance"], case.episode
        if episode is not None and episode.rounds > 1:
            settings = self._settings
            instance = instance_of_episode(case, episode.before or {}, settings.facts)
            optima = tuple(
                name for name in settings.assignors if name in (OPTIMUM, KIP54)
            )
            question = self._question(case, instance, optima, cooperative=False)
            outcome, text = self._outcome(instance, question), instance.text
        answer = outcome.actual
        assert answer is not None  # noqa: S101  # the caller has looked
        return episode_row(row, case, text, outcome.owned, answer)

    def _question(
        self,
        case: Case,
        instance: CaseInstance,
        assignors: tuple[str, ...],
        *,
        cooperative: bool,
    ) -> Question:
        actual = None
        if case.members is not None:
            actual = Actual(
                held=_held(case),
                assignor=case.client_assignor,
                cooperative=cooperative,
            )
        return Question(
            claim_rule=self._settings.claim_rule,
            assignors=assignors,
            actual=actual,
            lag_known=instance.lag_known,
            max_partitions=instance.max_partitions,
            are_optima_judged=self._settings.are_optima_judged,
        )


def _held(case: Case) -> dict[str, Held]:
    members = case.members or {}
    return {name: member.assigned or {} for name, member in members.items()}


def _reason(part: str, error: Exception) -> str:
    """Describe a failure in one line."""
    first = (str(error).splitlines() or [""])[0]
    return f"{part}: {type(error).__name__}: {first}"[:500]


def _failed(
    case: Case, instance: CaseInstance | None, reason: str, settings: Settings
) -> Result:
    key = key_of(case, settings.cluster)
    return "quarantine", {
        "cluster": key["cluster"],
        "date": key["date"],
        "kind": FAILED,
        "reason": reason,
        "group_id": case.group_id,
        "record": "snapshot" if case.owned_from == SNAPSHOT else "rebalance",
        "records": 1,
        "at": moment(case.at),
        "source": case.source,
        "source_partition": case.source_partition,
        "source_offset": case.source_offset,
        "instance": None if instance is None else instance.text,
    }


_KEPT = (
    "reason",
    "group_id",
    "record",
    "records",
    "source",
    "source_partition",
    "source_offset",
    "key",
    "value",
    "raw_bytes",
    "instance",
)


def quarantined(row: Row, cluster: str) -> dict[str, Any]:
    """Convert a worker's row to a row of ``quarantine``."""
    return {
        "cluster": cluster,
        "date": day(row["at"]),
        "kind": row["what"],
        "at": moment(row["at"]),
        **{name: row[name] for name in _KEPT},
    }
