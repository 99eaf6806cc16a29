"""The quality study does not judge an answer by its time, only by whether it came."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from benchmarks.quality.answering import record_file
from benchmarks.quality.plan import StudyPlan
from benchmarks.quality.study_run import run_study
from benchmarks.quality.subjects import StudySubject
from conformance.clients import Answer, Verdict
from conformance.runs import Subject
from tests.conformance.subjects import Scripted, failed, optimal
from tests.oracle.cli.commands import CHAIN, write_lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated(StudySubject):
    """A subject whose answer is stated."""

    answer: Answer

    def start(self, seconds: float) -> Subject:
        del seconds
        return Scripted(lambda _: self.answer)


LATE = replace(optimal(CHAIN), is_late=True)  # on a busy machine
NONE = failed(Verdict.HANG, "no answer after 5 s of CPU time")


@pytest.mark.parametrize(("answer", "category"), [(LATE, "optimal"), (NONE, "slow")])
def test_an_answer_counts_as_it_is(
    answer: Answer, category: str, tmp_path: Path
) -> None:
    given = write_lines(tmp_path / "given.jsonl", CHAIN)
    subject = Stated(
        name="stated",
        client="stated",
        version="1",
        assignor="sticky",
        language="Python",
        cooperative=False,
        deterministic=True,
        answer=answer,
    )
    folder = tmp_path / "study"
    run_study(StudyPlan(given=Path(given)), [subject], folder, workers=1, say=print)
    (row,) = pq.read_table(record_file(folder, subject.name, "file")).to_pylist()
    assert (row["category"], row["valid"]) == (category, category == "optimal")
