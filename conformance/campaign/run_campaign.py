"""A campaign against one assignor: draws, and the shrinking of what they find.

Findings are reported when they are found, and again when they are shrunk, both in the
order in which they were found; that does not depend on the number of workers. Equal
findings of several families are one: they have the same mechanism.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from conformance.runs import (
    FILE,
    Counts,
    Draws,
    Given,
    Mechanism,
    RunPlan,
    Sighting,
    Subject,
    in_turns,
    run_draws,
    run_given,
)
from conformance.shrinking import ShrinkSource, ShrinkTask, Shrunk, shrink_task

Document = dict[str, Any]

SHARE: Final = 4
"""A finding is shrunk for at most this part of the time that is left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignPlan:
    """What to draw, and until when.

    Attributes
    ----------
    draws : RunPlan
        Its ``keep`` findings of each mechanism are reported.
    given : iterable of rebalance/1 documents, or None
        Instances to test instead of draws.
    shrink_seconds : float or None
        Time for each finding; None: they are not shrunk.
    deadline : float or None
        Of `time.monotonic`. The subject is ended then, and what it was asked does not
        count.
    """

    draws: RunPlan
    given: Iterable[Document] | None = None
    shrink_seconds: float | None = 30.0
    deadline: float | None = None


@dataclass(frozen=True, slots=True)
class _Task:
    work: Draws | Given | ShrinkTask


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A finding as it was drawn."""

    sighting: Sighting


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrinking:
    """A finding that is complete; ``shrunk`` is None if it was not to be shrunk."""

    sighting: Sighting
    shrunk: Shrunk | None


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
    counts: dict[str, Counts] = field(init=False)
    _found: Counter[Mechanism] = field(default_factory=Counter)
    _waiting: deque[Sighting] = field(default_factory=deque)

    def __post_init__(self) -> None:
        names = self.plan.draws.families if self.plan.given is None else (FILE,)
        self.counts = {name: Counts(family=name) for name in names}

    def run(self) -> Iterator[Found | Shrinking]:
        """Yield each finding twice: when it is found, and when it is complete.

        Raises
        ------
        OSError or OutsideError
            If the subject cannot be started or reached, or a worker dies.
        """
        draws = self._draws()

        def task() -> _Task | None:
            if self._waiting:
                return self._shrink_task(self._waiting.popleft())
            one = next(draws, None)
            return None if one is None else _Task(one)

        workers = self.plan.draws.workers
        for result in in_turns(self.source, _run_task, task, workers=workers):
            if isinstance(result, Shrinking):
                yield result
            else:
                yield from self._counted(result)

    def _draws(self) -> Iterator[Draws | Given]:
        plan = self.plan
        if plan.given is None:
            return plan.draws.tasks(plan.deadline)
        return plan.draws.batches(plan.given, plan.deadline)

    def _counted(self, counts: Counts) -> Iterator[Found | Shrinking]:
        keep = self.plan.draws.keep
        self.counts[counts.family].merge(counts, keep=keep)
        self.advance(counts.rebalances)
        for sighting in counts.sightings:
            if self._found[sighting.mechanism] == keep:
                continue
            self._found[sighting.mechanism] += 1
            yield Found(sighting=sighting)
            if self.plan.shrink_seconds is None:
                yield Shrinking(sighting=sighting, shrunk=None)
            else:
                self._waiting.append(sighting)

    def _shrink_task(self, sighting: Sighting) -> _Task:
        assert self.plan.shrink_seconds is not None  # noqa: S101
        seconds, deadline = self.plan.shrink_seconds, self.plan.deadline
        if deadline is not None:
            left = max(0.0, deadline - time.monotonic())
            seconds = min(seconds, left / SHARE)
        return _Task(
            ShrinkTask(
                sighting=sighting,
                external=self.source,
                cooperative=self.plan.draws.cooperative,
                seconds=seconds,
                deadline=deadline,
            )
        )


def _run_task(subject: Subject, task: _Task) -> Counts | Shrinking:
    work = task.work
    if isinstance(work, Draws):
        return run_draws(subject, work)
    if isinstance(work, Given):
        return run_given(subject, work)
    return Shrinking(sighting=work.sighting, shrunk=shrink_task(subject, work))
