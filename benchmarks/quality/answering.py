"""Let one assignor answer the instances of one family: one record per instance."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.quality.parquet_files import is_file_of, metadata_of, write_table
from benchmarks.quality.study_instances import (
    StudyCase,
    cases_of,
    digest_of_all,
    digests_of_seeds,
    file_name,
    spread_of,
)
from benchmarks.quality.study_plan import StudyPlan
from benchmarks.quality.study_subjects import REFUSAL, StudySubject
from conformance.clients import Answer, Verdict
from conformance.runs import Category, DrivenRebalance, Subject, drive
from rebalance import OutsideError

Record = dict[str, Any]

REFUSED: Final = "refused"
"""Category of an instance to which an algorithm does not apply."""
TIME: Final = "micros"
"""The field that no digest includes."""
SCHEMA: Final = pa.schema(
    [
        ("assignor", pa.string()),
        ("family", pa.string()),
        ("seed", pa.int32()),
        ("index", pa.int32()),
        ("category", pa.string()),
        ("detail", pa.string()),
        ("rounds", pa.int16()),
        ("valid", pa.bool_()),
        ("kip54", pa.bool_()),
        ("balanced", pa.bool_()),
        ("spread_gap", pa.int32()),
        ("score_gap", pa.int64()),
        ("moves", pa.int32()),
        ("moves_gap", pa.int32()),
        ("moves_bound", pa.int32()),
        ("needless_moves", pa.int32()),
        (TIME, pa.int64()),
    ]
)
FIELDS: Final = tuple(name for name in SCHEMA.names if name != TIME)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerTask:
    """One assignor and one family, and the file of the records."""

    plan: StudyPlan
    subject: StudySubject
    family: str
    instances: Path
    file: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredFamily:
    """Result of a task.

    Attributes
    ----------
    is_new : bool
        Whether it was computed now, not before.
    problem : str or None
        Why there are no records: the program cannot be started or reached.
    """

    name: str
    family: str
    records: int = 0
    seconds: float = 0.0
    is_new: bool = True
    problem: str | None = None


def record_file(folder: Path, name: str, family: str) -> Path:
    """Return the file of the records of an assignor and a family."""
    return folder / "parts" / file_name(name) / f"{file_name(family)}.parquet"


def answer_family(_subject: Subject, task: AnswerTask) -> AnsweredFamily:
    """Answer the instances until the time for answers is over; store the records."""
    subject, plan = task.subject, task.plan
    name, family = subject.name, task.family
    key = {
        "name": name,
        "family": family,
        "instances": digest_of_all({family: digests_of_seeds(task.instances)}),
        "seconds": plan.seconds,
    }
    stored = _stored(task, key)
    if stored is not None:
        return stored
    begun = time.monotonic()
    try:
        with closing(_TimedSubject(subject=subject.start(plan.seconds))) as timed:
            records = list(_records(timed, subject, task))
    except (OSError, OutsideError) as error:
        return AnsweredFamily(name=name, family=family, problem=str(error))
    took = round(time.monotonic() - begun, 1)
    table = pa.Table.from_pylist(records, schema=SCHEMA)
    limit = {"family_seconds": plan.family_seconds}
    write_table(task.file, table, key | limit | {"records": len(records), "took": took})
    return AnsweredFamily(name=name, family=family, records=len(records), seconds=took)


def _stored(task: AnswerTask, key: dict[str, Any]) -> AnsweredFamily | None:
    """Return the earlier work: all instances, or a prefix by the same limit."""
    if not is_file_of(task.file, key):
        return None
    stored = metadata_of(task.file)
    is_whole = stored["records"] == pq.read_metadata(task.instances).num_rows
    if not is_whole and stored["family_seconds"] != task.plan.family_seconds:
        return None
    return AnsweredFamily(
        name=task.subject.name,
        family=task.family,
        records=stored["records"],
        seconds=stored["took"],
        is_new=False,
    )


def _records(
    timed: _TimedSubject, subject: StudySubject, task: AnswerTask
) -> Iterator[Record]:
    """Yield records; the time of the judge does not count against the assignor."""
    spent = 0
    for case in cases_of(task.instances):
        record = record_of(timed, subject, task.family, case)
        yield record
        spent += record[TIME]
        if spent >= 1_000_000 * task.plan.family_seconds:
            return


def record_of(
    timed: _TimedSubject, subject: StudySubject, family: str, case: StudyCase
) -> Record:
    """Send an instance, to the stable state, and return the record of the outcome."""
    timed.micros = 0
    outcome = drive(
        timed,
        case.document,
        cooperative=subject.cooperative,
        fewest=lambda _: case.best_moves,
    )
    return {
        "assignor": subject.name,
        "family": family,
        "seed": case.seed,
        "index": case.index,
        "category": _category(outcome),
        "detail": outcome.detail if outcome.category.is_safety else "",
        "rounds": len(outcome.rounds),
        **_figures(outcome, case),
        TIME: timed.micros,
    }


def _category(outcome: DrivenRebalance) -> str:
    is_error = outcome.category is Category.ERROR
    if is_error and (outcome.reason or "").startswith(REFUSAL):
        return REFUSED
    return outcome.category.value


def _figures(outcome: DrivenRebalance, case: StudyCase) -> Record:
    """Return the measures of a valid stable state; of others, that it is not one."""
    figures = outcome.figures
    if figures is None:
        return {"valid": False, "kip54": False, "balanced": False}
    loads = figures["loads"]
    kept = sum(map(min, case.owned, loads))
    return {
        "valid": True,
        "kip54": figures["kip54_balanced"],
        "balanced": figures["dec_min_balanced"],
        "spread_gap": spread_of(loads) - case.best_spread,
        "score_gap": figures["kip54_score"] - case.best_score,
        "moves": figures["moves"],
        "moves_gap": figures["moves"] - case.best_moves,
        "moves_bound": sum(case.owned) - kept,
        "needless_moves": outcome.needless_moves,
    }


def digest_of_records(file: Path) -> str:
    """Return the SHA-256 of a file's records, one JSON list per line, without times."""
    digest = hashlib.sha256()
    for batch in pq.ParquetFile(file).iter_batches(5000, columns=list(FIELDS)):
        columns = [batch.column(name).to_pylist() for name in FIELDS]
        for row in zip(*columns, strict=True):
            digest.update(orjson.dumps(row) + b"\n")
    return digest.hexdigest()


def digest_of_parts(digests: Iterable[str]) -> str:
    """Return one digest of the digests of an assignor's families."""
    lines = "".join(f"{digest}\n" for digest in digests)
    return hashlib.sha256(lines.encode()).hexdigest()


@dataclass(slots=True, kw_only=True)
class _TimedSubject:
    """A subject whose answers are timed, and not judged by their time.

    An answer within the limit of CPU time counts as it is, however busy the machine
    was. A missing answer is slow: whether it ever would is not awaited here.
    """

    subject: Subject
    micros: int = 0

    @property
    def name(self) -> str:
        return self.subject.name

    def answer(self, rebalance: bytes) -> Answer:
        begun = time.perf_counter_ns()
        try:
            answer = self.subject.answer(rebalance)
        finally:
            self.micros += (time.perf_counter_ns() - begun) // 1000
        if answer.verdict is Verdict.HANG:
            return replace(answer, verdict=Verdict.SLOW)
        return replace(answer, is_late=False)

    def cut(self) -> None:
        self.subject.cut()

    def close(self) -> None:
        self.subject.close()
