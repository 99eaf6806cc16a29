"""Run some draws of a family against a subject, and count their outcomes."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from conformance.runs.categories import Category, Mechanism
from conformance.runs.families import Family
from conformance.runs.own_families import family_of
from conformance.runs.repeating import as_nondeterministic, drive_twice
from conformance.runs.rounds import DrivenRebalance
from conformance.runs.run_records import FILE
from conformance.runs.subject import Subject
from conformance.runs.timed import OutOfTimeError, until
from conformance.runs.worker_processes import Startable
from conformance.shapes import has_double_claims, has_tied_claims

Document = dict[str, Any]
Kind = tuple[Category, str]
"""A category and its detail: outcomes that a reader would call the same."""
Trait = tuple[Category, str, str, int, int]
"""Mechanism, number of rounds, and bits of the needless moves: the guide of a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draws:
    """Draws of one family; the unit of work of a worker.

    Attributes
    ----------
    start, count, stride : int
        Draws ``start``, ``start + stride``, and so on, ``count`` of them.
    keep : int
        Outcomes to keep per mechanism.
    deadline : float or None
        Of `time.monotonic`, which all processes share.
    patience : float or None
        Seconds per draw after which it is abandoned and does not count.
    leader : Startable or None
        The program with a leader that lives on, for families that need one.
    """

    family: str
    seed: int
    start: int
    count: int
    stride: int = 1
    cooperative: bool
    keep: int
    deadline: float | None = None
    patience: float | None = None
    leader: Startable | None = None

    @property
    def indices(self) -> range:
        """Numbers of the draws."""
        end = self.start + self.count * self.stride
        return range(self.start, end, self.stride)

    def of(self, family: str, *, start: int, count: int, stride: int = 1) -> Draws:
        """Return other draws with the same seed and limits."""
        return replace(self, family=family, start=start, count=count, stride=stride)

    def end_of_draw(self) -> float | None:
        """Return the moment at which a draw that begins now is to end."""
        if self.patience is None:
            return self.deadline
        end = time.monotonic() + self.patience
        return end if self.deadline is None else min(end, self.deadline)


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnOutcome:
    """An outcome that is not optimal, and where it was drawn."""

    family: str
    seed: int
    index: int
    step: int
    outcome: DrivenRebalance

    @property
    def kind(self) -> Kind:
        """Category and detail."""
        return self.outcome.category, self.outcome.detail

    @property
    def mechanism(self) -> Mechanism:
        """The kind, and the place in the client."""
        return *self.kind, self.outcome.place or ""

    @property
    def key(self) -> tuple[object, ...]:
        """The mechanism; of needless moves, also the claims on one partition.

        Whether several members claim one, and whether at one generation: the cause can
        be how such claims are told apart.
        """
        if self.outcome.category is not Category.NEEDLESS_MOVES:
            return self.mechanism
        instance = self.outcome.rounds[0].rebalance
        rivals = has_double_claims(instance), has_tied_claims(instance)
        return *self.mechanism, *rivals

    @property
    def trait(self) -> Trait:
        """The mechanism, extended by a gap in quality or a long way to rest."""
        needless = (self.outcome.needless_moves or 0).bit_length()
        return *self.mechanism, len(self.outcome.rounds), needless


@dataclass(slots=True, kw_only=True)
class FamilyCounts:
    """Counts of one family.

    Attributes
    ----------
    draws, rebalances, answers
        Draws that were begun; rebalances, several per draw under churn; answers,
        several per rebalance in cooperative rounds.
    outcomes
        Rebalances per category.
    mechanisms
        Rebalances per mechanism that are not optimal.
    needless_moves
        Sum over the dec-min balanced outcomes.
    most_rounds
        Of one rebalance that reached a stable state.
    sightings
        The first outcomes per `DrawnOutcome.key` that are not optimal.
    traits
        Rebalances per trait.
    seconds
        Wall time of the draws.
    repeated
        Rebalances whose first answer was compared with that of another process. Those
        that differ are counted as `Category.NONDETERMINISTIC`, in addition to their
        outcome.
    """

    family: str
    draws: int = 0
    rebalances: int = 0
    answers: int = 0
    outcomes: Counter[Category] = field(default_factory=Counter)
    mechanisms: Counter[Mechanism] = field(default_factory=Counter)
    needless_moves: int = 0
    most_rounds: int = 0
    sightings: list[DrawnOutcome] = field(default_factory=list)
    traits: Counter[Trait] = field(default_factory=Counter)
    seconds: float = field(default=0.0, compare=False)
    repeated: int = 0

    def add(self, sighting: DrawnOutcome, *, keep: int) -> None:
        """Count one rebalance."""
        outcome = sighting.outcome
        self.rebalances += 1
        self.answers += len(outcome.rounds)
        self.repeated += outcome.is_repeated
        self.outcomes[outcome.category] += 1
        self.traits[sighting.trait] += 1
        self.needless_moves += outcome.needless_moves or 0
        if outcome.figures is not None:
            self.most_rounds = max(self.most_rounds, len(outcome.rounds))
        seen = [sighting] if outcome.category is not Category.OPTIMAL else []
        if outcome.difference is not None:
            self.outcomes[Category.NONDETERMINISTIC] += 1
            seen.append(replace(sighting, outcome=as_nondeterministic(outcome)))
        for each in seen:
            self.mechanisms[each.mechanism] += 1
        self._keep(seen, keep)

    def merge(self, later: FamilyCounts, *, keep: int) -> None:
        """Add the counts of later draws."""
        self.draws += later.draws
        self.rebalances += later.rebalances
        self.answers += later.answers
        self.repeated += later.repeated
        self.outcomes += later.outcomes
        self.mechanisms += later.mechanisms
        self.needless_moves += later.needless_moves
        self.traits += later.traits
        self.seconds += later.seconds
        self.most_rounds = max(self.most_rounds, later.most_rounds)
        self._keep(later.sightings, keep)

    def _keep(self, sightings: Iterable[DrawnOutcome], keep: int) -> None:
        kept = Counter(sighting.key for sighting in self.sightings)
        for sighting in sightings:
            if kept[sighting.key] < keep:
                kept[sighting.key] += 1
                self.sightings.append(sighting)


def run_draws(subject: Subject, draws: Draws) -> FamilyCounts:
    """Drive the subject through all draws, or until the deadline.

    A draw under churn ends early if an answer cannot be the next claim.
    """
    counts = FamilyCounts(family=draws.family)
    begun = time.monotonic()
    if draws.patience is None and draws.leader is None:
        with suppress(OutOfTimeError), until(subject, draws.deadline) as timed:
            for index in draws.indices:
                if _is_late(draws):
                    break
                _run_draw(timed, draws, index, counts)
    else:
        for index in draws.indices:
            if _is_late(draws):
                break
            _run_apart(subject, draws, index, counts)
    counts.seconds = time.monotonic() - begun
    return counts


def _is_late(draws: Draws) -> bool:
    return draws.deadline is not None and time.monotonic() >= draws.deadline


def _run_apart(
    subject: Subject, draws: Draws, index: int, counts: FamilyCounts
) -> None:
    """Run a draw with a leader of its own, or with a limit of its own."""
    end = draws.end_of_draw()
    if draws.leader is not None:
        with closing(draws.leader.start()) as leader:
            _run_until(leader, end, draws, index, counts)
        return
    _run_until(subject, end, draws, index, counts)
    if end is not None and time.monotonic() >= end:
        subject.close()  # the next draw is not to meet a program that was just ended


def _run_until(
    subject: Subject, end: float | None, draws: Draws, index: int, counts: FamilyCounts
) -> None:
    with suppress(OutOfTimeError), until(subject, end) as timed:
        _run_draw(timed, draws, index, counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Instances that were not drawn, with the place of the first in their file."""

    start: int
    rebalances: tuple[Document, ...]
    cooperative: bool
    keep: int
    deadline: float | None = None


def run_given(subject: Subject, given: Given) -> FamilyCounts:
    """Drive the subject through given instances, until the deadline."""
    counts = FamilyCounts(family=FILE)
    with suppress(OutOfTimeError), until(subject, given.deadline) as timed:
        for index, rebalance in enumerate(given.rebalances, start=given.start):
            outcome = drive_twice(timed, rebalance, cooperative=given.cooperative)
            counts.draws += 1
            sighting = DrawnOutcome(
                family=FILE, seed=0, index=index, step=0, outcome=outcome
            )
            counts.add(sighting, keep=given.keep)
    return counts


def _run_draw(subject: Subject, draws: Draws, index: int, counts: FamilyCounts) -> None:
    counts.draws += 1
    family, seed = family_of(draws.family), draws.seed
    steps = drawn_outcomes(subject, family, seed, index, cooperative=draws.cooperative)
    for step, outcome in enumerate(steps):
        sighting = DrawnOutcome(
            family=family.name, seed=seed, index=index, step=step, outcome=outcome
        )
        counts.add(sighting, keep=draws.keep)


def drawn_outcomes(
    subject: Subject, family: Family, seed: int, index: int, *, cooperative: bool
) -> Iterator[DrivenRebalance]:
    """Yield the outcome of each step of a draw.

    Under churn, the last answer becomes the next claim; a draw ends early if it cannot.
    """
    rebalance = family.first(seed, index)
    for step in range(1, family.steps + 1):
        outcome = drive_twice(subject, rebalance, cooperative=cooperative)
        yield outcome
        if outcome.held is None or step == family.steps:
            return
        last = outcome.rounds[-1].rebalance
        rebalance = family.after(last, outcome.held, seed=seed, index=index, step=step)
