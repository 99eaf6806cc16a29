"""Checks of a subject on the scenarios of the corpus.

Every answer has to be valid; expectations apply to every subject, or to a published
algorithm that the subject claims to be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from conformance.checks.check import CORPUS, Check
from conformance.corpus import corpus
from conformance.expectations import unmet
from conformance.runs import Category, DrivenRebalance, Subject, drive_twice
from conformance.scenario import (
    AS_IT_STANDS,
    EVERYONE,
    POLICY,
    Expectation,
    Scenario,
    Step,
)
from rebalance import AssignmentDocument, Rebalance, plain_of, rebalance_of


def algorithms() -> tuple[str, ...]:
    """Return the published assignors of which the corpus expects something."""
    spoken_of = {
        name
        for scenario in corpus()
        for step in scenario.steps
        for expectation in step.expect
        for name in expectation.of
    }
    named = {name for name in spoken_of if not name.startswith(POLICY)}
    return tuple(sorted(named - {EVERYONE, AS_IT_STANDS}))


def corpus_checks(
    subject: Subject,
    scenarios: Iterable[Scenario] | None = None,
    *,
    algorithm: str | None = None,
    cooperative: bool = False,
) -> Iterator[Check]:
    """Play the readable steps of each scenario, in order; yield a check per step.

    Parameters
    ----------
    subject : Subject
    scenarios : iterable of Scenario
        By default the packaged corpus.
    algorithm : str or None
        One of `algorithms`, whose expectations apply as well.
    cooperative : bool
        Whether a step is played in rounds, up to a stable state.
    """
    for scenario in corpus() if scenarios is None else scenarios:
        previous: AssignmentDocument | None = None
        for position, step in enumerate(scenario.steps):
            if step.unreadable is not None:
                continue
            rebalance = step.after(previous, position)
            outcome = drive_twice(subject, plain_of(rebalance), cooperative=cooperative)
            yield _check(f"{scenario.name}: {step.name}", step, outcome, algorithm)
            previous = (
                None if outcome.held is None else outcome.rounds[-1].answer.assignment
            )


def _check(
    name: str, step: Step, outcome: DrivenRebalance, algorithm: str | None
) -> Check:
    subjects = (EVERYONE,) if algorithm is None else (EVERYONE, algorithm)
    due = [
        expectation
        for expectation in step.expected_of(*subjects)
        if expectation.claim_rule == "newest-claim"
    ]
    may_refuse = any(expectation.refused for expectation in due)
    return Check(
        part=CORPUS,
        name=name,
        outcome=outcome,
        unmet=tuple(_unmet(due, outcome)),
        is_refusal=may_refuse and outcome.category is Category.ERROR,
    )


def _unmet(due: Sequence[Expectation], outcome: DrivenRebalance) -> Iterator[str]:
    for expectation in due:
        for fault in _faults(expectation, outcome):
            yield f"{expectation.name}: {fault}"


def _faults(expectation: Expectation, outcome: DrivenRebalance) -> Iterator[str]:
    """Compare an answer that has no fault of its own with an expectation."""
    if expectation.round is None:
        one = outcome.rounds[-1]
        # Moves are counted from the claims of the first round.
        figures, instance = outcome.figures, outcome.rounds[0].rebalance
    elif expectation.round <= len(outcome.rounds):
        one = outcome.rounds[expectation.round - 1]
        figures, instance = one.figures, one.rebalance
    else:
        return  # an earlier round was stable, or had a fault
    if figures is None or one.violations or one.answer.assignment is None:
        return
    rebalance: Rebalance = rebalance_of(instance)
    yield from unmet(expectation, rebalance, one.answer.assignment, figures)
