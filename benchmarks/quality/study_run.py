"""Run a study: draw, answer, export, summarize; what is done is not done again."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from pathlib import Path

from benchmarks.quality.answering import (
    AnsweredFamily,
    AnswerTask,
    answer_family,
    record_file,
)
from benchmarks.quality.instances import InstanceTask, draw_instances, instance_file
from benchmarks.quality.plan import StudyPlan
from benchmarks.quality.subjects import StudySubject
from conformance.clients import Answer
from conformance.runs import Subject, in_workers

Say = Callable[[str], None]


def run_study(
    plan: StudyPlan,
    subjects: Sequence[StudySubject],
    folder: Path,
    *,
    workers: int,
    say: Say,
) -> list[StudySubject]:
    """Draw the instances, and let every assignor answer; return those that could."""
    draws = [
        InstanceTask(plan=plan, family=name, file=instance_file(folder, name))
        for name in plan.names
    ]
    with closing(
        in_workers(_NoSubject(), draw_instances, draws, workers=workers)
    ) as done:
        for file in done:
            say(f"instances: {file.stem}")
    failed: set[str] = set()
    with closing(_answered(plan, subjects, folder, workers)) as answers:
        for one in answers:
            say(_in_words(one))
            if one.problem is not None:
                failed.add(one.name)
    return [subject for subject in subjects if subject.name not in failed]


def _answered(
    plan: StudyPlan, subjects: Sequence[StudySubject], folder: Path, workers: int
) -> Generator[AnsweredFamily, None, None]:
    tasks = [
        AnswerTask(
            plan=plan,
            subject=subject,
            family=family,
            instances=instance_file(folder, family),
            file=record_file(folder, subject.name, family),
        )
        for family in plan.names  # tasks of similar length follow one another
        for subject in subjects
    ]
    yield from in_workers(_NoSubject(), answer_family, tasks, workers=workers)


def _in_words(one: AnsweredFamily) -> str:
    place = f"{one.name}: {one.family}"
    if one.problem is not None:
        return f"{place}: not answered: {one.problem}"
    when = "" if one.is_new else ", before"
    return f"{place}: {one.records:,} records in {one.seconds:g} s{when}"


class _NoSubject:
    """What `in_workers` starts: every task has a subject of its own."""

    name = "study"

    def start(self) -> Subject:
        return self

    def answer(self, rebalance: bytes) -> Answer:
        raise NotImplementedError

    def cut(self) -> None:
        """Do nothing: no task has a deadline."""

    def close(self) -> None:
        """Do nothing: tasks end what they start."""
