"""A differential run: draws of families, distributed over workers, within budgets."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from typing import Any, Final, Protocol, runtime_checkable

from conformance.runs.draws import Draws, FamilyCounts, Given, run_draws, run_given
from conformance.runs.families import FAMILIES
from conformance.runs.guidance import Guide
from conformance.runs.own_families import family_of
from conformance.runs.run_records import FILE
from conformance.runs.worker_processes import Startable, in_workers

Document = dict[str, Any]

AT_ONCE: Final = 20  # draws per task


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """Draws to make.

    Attributes
    ----------
    families : tuple of str
        Names that `family_of` knows.
    seed, first, count : int
        Draws ``first`` to ``first + count - 1`` of each family; of families of large
        instances, one in `Family.share`.
    seconds : float or None
        Time for all draws together; the families advance side by side.
    keep : int
        Outcomes to keep of each mechanism.
    """

    families: tuple[str, ...] = field(default_factory=lambda: tuple(FAMILIES))
    seed: int = 0
    first: int = 0
    count: int = 200
    seconds: float | None = None
    cooperative: bool = False
    keep: int = 1
    workers: int = 1

    def tasks(
        self, deadline: float | None = None, *, leader: Startable | None = None
    ) -> Iterator[Draws]:
        """Yield the tasks, one per family in turn, until the time is over.

        Parameters
        ----------
        deadline : float or None
            Of `time.monotonic`; it excludes `seconds`.
        leader : Startable or None
            The program with a leader that lives from one rebalance to the next.
        """
        if self.seconds is not None:
            deadline = time.monotonic() + self.seconds
        of_families = [self._tasks_of(name, deadline, leader) for name in self.families]
        for turn in zip_longest(*of_families):
            if deadline is not None and time.monotonic() >= deadline:
                return
            yield from (task for task in turn if task is not None)

    def guide(self, deadline: float, *, leader: Startable | None = None) -> Guide:
        """Return the guide of a run without a count, which time alone ends."""
        template = Draws(
            family="",
            seed=self.seed,
            start=0,
            count=0,
            cooperative=self.cooperative,
            keep=self.keep,
            deadline=deadline,
            leader=leader,
        )
        return Guide(families=self.families, template=template, first=self.first)

    def batches(
        self, rebalances: Iterable[Document], deadline: float | None = None
    ) -> Iterator[Given]:
        """Yield given instances as tasks, until the time is over."""
        left, start = iter(rebalances), 0
        while batch := tuple(islice(left, AT_ONCE)):
            if deadline is not None and time.monotonic() >= deadline:
                return
            yield Given(
                start=start,
                rebalances=batch,
                cooperative=self.cooperative,
                keep=self.keep,
                deadline=deadline,
            )
            start += len(batch)

    def _tasks_of(
        self, name: str, deadline: float | None, leader: Startable | None
    ) -> Iterator[Draws]:
        family = family_of(name)
        left, start = -(-self.count // family.share), self.first
        at_once = max(1, AT_ONCE // family.share)
        while left > 0:
            yield Draws(
                family=name,
                seed=self.seed,
                start=start,
                count=min(at_once, left),
                cooperative=self.cooperative,
                keep=self.keep,
                deadline=deadline,
                leader=leader if family.keeps_leader else None,
            )
            start, left = start + at_once, left - at_once


@runtime_checkable
class Leading(Protocol):
    """A source whose program can keep the assignor object of its leader."""

    def leading(self) -> Startable:
        """Return the program with a leader that lives on between rebalances."""
        ...


def leader_of(source: Startable) -> Startable | None:
    """Return the program with a leader that lives on; None if there is no other."""
    return source.leading() if isinstance(source, Leading) else None


def run_families(
    source: Startable,
    plan: RunPlan,
    *,
    advance: Callable[[int], None] = lambda _: None,
) -> dict[str, FamilyCounts]:
    """Run a plan; return the counts per family, in the order of the plan.

    Parameters
    ----------
    source : Startable
    plan : RunPlan
    advance : callable
        Called with a number of rebalances when they are done.
    """
    found = {name: FamilyCounts(family=name) for name in plan.families}
    tasks = plan.tasks(leader=leader_of(source))
    done = in_workers(source, run_draws, tasks, workers=plan.workers)
    with closing(done) as results:
        for counts in results:
            found[counts.family].merge(counts, keep=plan.keep)
            advance(counts.rebalances)
    return found


def run_instances(
    source: Startable,
    rebalances: Iterable[Document],
    plan: RunPlan,
    *,
    advance: Callable[[int], None] = lambda _: None,
) -> FamilyCounts:
    """Run given instances instead of draws, and return their counts."""
    found = FamilyCounts(family=FILE)
    tasks = plan.batches(rebalances)
    with closing(in_workers(source, run_given, tasks, workers=plan.workers)) as results:
        for counts in results:
            found.merge(counts, keep=plan.keep)
            advance(counts.rebalances)
    return found
