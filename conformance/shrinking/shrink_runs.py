"""Shrink one finding of a run, within limits, and record the result."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Protocol

from conformance.clients import Answer
from conformance.runs import (
    Category,
    DrawnOutcome,
    OutOfTimeError,
    Repeatable,
    ShrunkRecord,
    Startable,
    Subject,
    WrappedSubject,
    case_parts,
    drive,
    until,
)
from conformance.shrinking.shrink import Shrinker, Shrunk
from conformance.shrinking.shrink_difference import (
    examined_sighting,
    shrink_difference,
)

IMPATIENT_SECONDS: Final = 2.0


class ShrinkSource(Startable, Protocol):
    """A value from which a subject can also start with a shorter limit."""

    def start_impatient(self, seconds: float) -> Subject:
        """Return a new subject with at most this limit per answer."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ShrinkTask:
    """A finding to shrink."""

    sighting: DrawnOutcome
    external: ShrinkSource
    cooperative: bool
    seconds: float
    deadline: float | None = None  # of `time.monotonic`: the subject ends then


def shrink_task(subject: Subject, task: ShrinkTask) -> Shrunk:
    """Shrink one finding; a hang with a shorter limit, confirmed with the whole one.

    A slow answer is not shrunk: with a smaller instance, it would not be slow. A fault
    of another process is shrunk with one that has its hash seed.
    """
    if task.sighting.outcome.category is Category.SLOW:
        return Shrunk(outcome=task.sighting.outcome, tests=0, is_minimal=False)
    if task.sighting.outcome.category is not Category.HANG:
        with until(subject, task.deadline) as timed:
            seed = task.sighting.outcome.hash_seed
            if seed is None or not isinstance(timed, Repeatable):
                return _shrinker(timed, task).shrink(task.sighting)
            other = _Other(subject=timed, hash_seed=seed)
            try:
                return _shrinker(other, task).shrink(task.sighting)
            finally:
                timed.end_kept()
    impatient = task.external.start_impatient(IMPATIENT_SECONDS)
    try:
        with until(impatient, task.deadline) as timed:
            shrunk = _shrinker(timed, task).shrink(task.sighting)
    finally:
        impatient.close()
    small = shrunk.outcome.rounds[0].rebalance
    with suppress(OutOfTimeError), until(subject, task.deadline) as timed:
        outcome = drive(timed, small, cooperative=task.cooperative)
        if outcome.category is Category.HANG:
            return Shrunk(
                outcome=outcome,
                tests=shrunk.tests + 1,
                is_minimal=shrunk.is_minimal,
                seen=shrunk.seen,
            )
    return Shrunk(
        outcome=task.sighting.outcome, tests=shrunk.tests + 1, is_minimal=False
    )


@dataclass(slots=True, kw_only=True, eq=False)
class _Other(WrappedSubject[Repeatable]):
    """Another process of a subject, as a subject."""

    hash_seed: int

    def answer(self, rebalance: bytes) -> Answer:
        return self.subject.ask_kept(rebalance, self.hash_seed).answer


def shrink_difference_task(
    subject: Subject, task: ShrinkTask
) -> tuple[DrawnOutcome, Shrunk]:
    """Find the causes of differing answers, and shrink the rebalance."""
    with until(subject, task.deadline) as timed:
        if not isinstance(timed, Repeatable):  # not of a run that repeats answers
            outcome = task.sighting.outcome
            return task.sighting, Shrunk(outcome=outcome, tests=0, is_minimal=False)
        known = examined_sighting(timed, task.sighting, cooperative=task.cooperative)
        small = shrink_difference(
            timed, known, cooperative=task.cooperative, seconds=task.seconds
        )
        return known, small


def shrunk_record(shrunk: Shrunk) -> ShrunkRecord:
    """Return the record of a shrunk finding."""
    parts = case_parts(shrunk.outcome)
    if shrunk.seen is not None:
        parts["seen"] = list(shrunk.seen)
    return ShrunkRecord(**parts, tests=shrunk.tests, minimal=shrunk.is_minimal)


def _shrinker(subject: Subject, task: ShrinkTask) -> Shrinker:
    return Shrinker(subject=subject, cooperative=task.cooperative, seconds=task.seconds)
