"""Run a study: draw, answer, export, summarize; finished work is not done again."""

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
from benchmarks.quality.study_instances import (
    InstanceTask,
    draw_instances,
    instance_file,
)
from benchmarks.quality.study_plan import StudyPlan
from benchmarks.quality.study_subjects import StudySubject
from conformance.runs import NoSubject, in_workers

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
        in_workers(NoSubject(), draw_instances, draws, workers=workers)
    ) as done:
        for file in done:
            say(f"instances: {file.stem}")
    failed: set[str] = set()
    with closing(_answered(plan, subjects, folder, workers)) as answers:
        for answered in answers:
            say(_in_words(answered))
            if answered.problem is not None:
                failed.add(answered.name)
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
    yield from in_workers(NoSubject(), answer_family, tasks, workers=workers)


def _in_words(answered: AnsweredFamily) -> str:
    place = f"{answered.name}: {answered.family}"
    if answered.problem is not None:
        return f"{place}: not answered: {answered.problem}"
    when = "" if answered.is_new else ", before"
    return f"{place}: {answered.records:,} records in {answered.seconds:g} s{when}"
