"""A campaign against one assignor: draws, and the shrinking of their findings.

Findings are reported when they are found, and again when they are shrunk, both in the
order in which they were found; that does not depend on the number of workers. Equal
findings of several families are one (`same_finding`).

A campaign without a count, which only its deadline ends, is guided (`Guide`): its tasks
follow from the time that earlier ones took and from their findings, faults are shrunk
before gaps in quality, shrinking takes at most as long as drawing, and after the first
hang, long draws are abandoned.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, Final

from conformance.campaign.same_finding import Key, drawn_key, shrunk_key
from conformance.runs import (
    FILE,
    Category,
    DrawnOutcome,
    Draws,
    FamilyCounts,
    Given,
    Guide,
    RunPlan,
    Subject,
    in_turns,
    leader_of,
    run_draws,
    run_given,
)
from conformance.shrinking import (
    ShrinkSource,
    ShrinkTask,
    Shrunk,
    shrink_difference_task,
    shrink_task,
)

Document = dict[str, Any]

SHARE: Final = 4
"""A finding is shrunk for at most this part of the time that is left."""

PATIENCE: Final = 2.0
"""Seconds per draw of a guided campaign after its first hang: others are abandoned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignPlan:
    """Draws to make, and the deadline.

    Attributes
    ----------
    draws : RunPlan
        So many findings of each mechanism are reported as its ``keep`` states.
    given : iterable of rebalance/1 documents, or None
        Instances to test instead of draws.
    shrink_seconds : float or None
        Time for each finding; None: they are not shrunk.
    deadline : float or None
        Of `time.monotonic`. The subject is ended then, and the last question does not
        count.
    guided : bool
        Whether time and outcomes decide the draws, until the deadline; the count of the
        draws is ignored.
    deterministic : bool
        Whether the subject is declared deterministic. If not, answers that differ are
        not findings, and the first ones alone are examined, whatever their family.
    """

    draws: RunPlan
    given: Iterable[Document] | None = None
    shrink_seconds: float | None = 30.0
    deadline: float | None = None
    guided: bool = False
    deterministic: bool = False


@dataclass(frozen=True, slots=True)
class _Task:
    work: Draws | Given | ShrinkTask


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnFinding:
    """A finding as it was drawn."""

    sighting: DrawnOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrinking:
    """A finding that is complete; ``shrunk`` is None if it was not to be shrunk."""

    sighting: DrawnOutcome
    shrunk: Shrunk | None


@dataclass(frozen=True, slots=True)
class _TaskResult:
    task: _Task
    value: FamilyCounts | Shrinking
    seconds: float


@dataclass(slots=True, kw_only=True)
class Campaign:
    """A run of a plan; ``counts`` are those so far, by family.

    Parameters
    ----------
    source : ShrinkSource
    plan : CampaignPlan
    advance : callable
        Called with a number of rebalances when they are done.
    """

    source: ShrinkSource
    plan: CampaignPlan
    advance: Callable[[int], None] = lambda _: None
    counts: dict[str, FamilyCounts] = field(init=False)
    _drawn: Counter[Key] = field(default_factory=Counter)
    _complete: Counter[Key] = field(default_factory=Counter)
    _waiting: deque[DrawnOutcome] = field(default_factory=deque)
    _guide: Guide | None = field(init=False, default=None)
    _has_hung: bool = False
    _drawing: float = 0.0  # seconds of all workers
    _shrinking: float = 0.0  # seconds, of those that run at their most

    def __post_init__(self) -> None:
        names = self.plan.draws.families if self.plan.given is None else (FILE,)
        self.counts = {name: FamilyCounts(family=name) for name in names}
        if self.plan.guided and self.plan.given is None:
            assert self.plan.deadline is not None  # noqa: S101
            self._guide = self.plan.draws.guide(
                self.plan.deadline, leader=leader_of(self.source)
            )

    def run(self) -> Generator[DrawnFinding | Shrinking, None, None]:
        """Yield each finding when it is found, and again when it is complete.

        One that turns out to be equal to an earlier one is not yielded again. Closing
        the generator ends the subject.

        Raises
        ------
        OSError or OutsideError
            If the subject cannot be started or reached, or a worker dies.
        """
        draws = self._draws()

        def task() -> _Task | None:
            if self._waiting and self._may_shrink():
                return self._shrink_task(self._next_to_shrink())
            work = next(draws, None)
            if work is not None:
                return _Task(work)
            if self._waiting:
                return self._shrink_task(self._next_to_shrink())
            return None

        turns = in_turns(
            self.source,
            _run_task,
            task,
            workers=self.plan.draws.workers,
            ordered=self._guide is None,
        )
        with closing(turns) as results:
            for result in results:
                yield from self._taken(result)

    def _draws(self) -> Iterator[Draws | Given]:
        plan = self.plan
        if self._guide is not None:
            return self._guided(self._guide)
        if plan.given is None:
            return plan.draws.tasks(plan.deadline, leader=leader_of(self.source))
        return plan.draws.batches(plan.given, plan.deadline)

    def _guided(self, guide: Guide) -> Iterator[Draws]:
        assert self.plan.deadline is not None  # noqa: S101
        while time.monotonic() < self.plan.deadline:
            draws = guide.next_draws()
            yield replace(draws, patience=PATIENCE) if self._has_hung else draws

    def _may_shrink(self) -> bool:
        return self._guide is None or self._shrinking <= self._drawing

    def _next_to_shrink(self) -> DrawnOutcome:
        """Take the first that waits, a fault before a gap in quality if guided."""
        waiting = self._waiting
        if self._guide is None:
            return waiting.popleft()
        faults = (each for each in waiting if each.outcome.category.is_safety)
        sighting = next(faults, waiting[0])
        waiting.remove(sighting)
        return sighting

    def _taken(self, result: _TaskResult) -> Iterator[DrawnFinding | Shrinking]:
        work, value = result.task.work, result.value
        if isinstance(value, FamilyCounts):
            self._drawing += result.seconds
            if self._guide is not None and isinstance(work, Draws):
                self._guide.learn(work, value)
            self._has_hung |= value.outcomes[Category.HANG] > 0
            yield from self._counted(value)
        else:
            assert isinstance(work, ShrinkTask)  # noqa: S101
            self._shrinking += result.seconds - work.seconds
            yield from self._completed(value)

    def _counted(self, counts: FamilyCounts) -> Iterator[DrawnFinding | Shrinking]:
        keep = self.plan.draws.keep
        self.counts[counts.family].merge(counts, keep=keep)
        self.advance(counts.rebalances)
        for sighting in counts.sightings:
            is_difference = sighting.outcome.category is Category.NONDETERMINISTIC
            is_note = is_difference and not self.plan.deterministic
            key = sighting.mechanism if is_note else drawn_key(sighting)
            if self._drawn[key] == keep:
                continue
            self._drawn[key] += 1
            if not is_note:
                yield DrawnFinding(sighting=sighting)
            if self.plan.shrink_seconds is None and not is_difference:
                yield from self._completed(Shrinking(sighting=sighting, shrunk=None))
            else:
                self._waiting.append(sighting)

    def _completed(self, finding: Shrinking) -> Iterator[Shrinking]:
        key = shrunk_key(finding.sighting, finding.shrunk)
        if self._complete[key] < self.plan.draws.keep:
            self._complete[key] += 1
            yield finding

    def _shrink_task(self, sighting: DrawnOutcome) -> _Task:
        seconds, deadline = self.plan.shrink_seconds or 0.0, self.plan.deadline
        if deadline is not None:
            left = max(0.0, deadline - time.monotonic())
            seconds = min(seconds, left / SHARE)
        self._shrinking += seconds
        return _Task(
            ShrinkTask(
                sighting=sighting,
                external=self.source,
                cooperative=self.plan.draws.cooperative,
                seconds=seconds,
                deadline=deadline,
            )
        )


def _run_task(subject: Subject, task: _Task) -> _TaskResult:
    begun = time.monotonic()
    value = _worked(subject, task.work)
    return _TaskResult(task, value, time.monotonic() - begun)


def _worked(
    subject: Subject, work: Draws | Given | ShrinkTask
) -> FamilyCounts | Shrinking:
    if isinstance(work, Draws):
        return run_draws(subject, work)
    if isinstance(work, Given):
        return run_given(subject, work)
    if work.sighting.outcome.category is Category.NONDETERMINISTIC:
        sighting, small = shrink_difference_task(subject, work)
        return Shrinking(sighting=sighting, shrunk=small if work.seconds else None)
    return Shrinking(sighting=work.sighting, shrunk=shrink_task(subject, work))
