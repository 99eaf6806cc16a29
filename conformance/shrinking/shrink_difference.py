"""Shrink two differing answers: a smaller rebalance whose answers differ alike.

Candidates are tried with processes that are kept; the result is confirmed by new ones.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from conformance.runs import (
    Dependence,
    DrawnOutcome,
    DrivenRebalance,
    OutOfTimeError,
    Repeatable,
    as_nondeterministic,
    difference_by,
    drive,
    examined,
)
from conformance.shapes import unusual_shapes
from conformance.shrinking.reduction import MOST_TESTS, reduce_rebalance
from conformance.shrinking.shrink import Shrunk

Document = dict[str, Any]

CONFIRMATIONS: Final = 3
"""Examinations of a shrunk instance; chance can hide the difference."""


def examined_sighting(
    subject: Repeatable, sighting: DrawnOutcome, *, cooperative: bool
) -> DrawnOutcome:
    """Return a difference with its dependence, if there is time to find out."""
    outcome = sighting.outcome
    assert outcome.difference is not None  # noqa: S101
    try:
        known = examined(subject, outcome.difference, cooperative=cooperative)
    except OutOfTimeError:
        return sighting
    with_cause = as_nondeterministic(replace(outcome, difference=known))
    return replace(sighting, outcome=with_cause)


def shrink_difference(
    subject: Repeatable, sighting: DrawnOutcome, *, cooperative: bool, seconds: float
) -> Shrunk:
    """Return the smallest rebalance found whose answers have the same dependence.

    A difference that depends on earlier rebalances, or on something that is not known,
    is not shrunk.
    """
    difference = sighting.outcome.difference
    assert difference is not None  # noqa: S101
    dependence = difference.dependence
    if dependence is None or dependence is Dependence.HISTORY:
        return Shrunk(outcome=sighting.outcome, tests=0, is_minimal=False)
    tests = 0

    def shows(candidate: Document) -> bool:
        nonlocal tests
        tests += 1
        if not unusual_shapes(candidate) <= unusual:
            return False
        kept = subject.ask_kept
        found = difference_by(dependence, kept, candidate, cooperative=cooperative)
        return found is not None

    rebalance = sighting.outcome.rounds[0].rebalance
    unusual = unusual_shapes(rebalance)
    try:
        reduced = reduce_rebalance(rebalance, shows, tests=MOST_TESTS, seconds=seconds)
        small = reduced.rebalance
        outcome = drive(subject, small, cooperative=cooperative)
        confirmed = _confirmed(subject, dependence, small, outcome, cooperative)
    except OutOfTimeError:
        confirmed = None
    finally:
        subject.end_kept()
    if confirmed is None:
        return Shrunk(outcome=sighting.outcome, tests=tests, is_minimal=False)
    return Shrunk(outcome=confirmed, tests=tests, is_minimal=reduced.is_minimal)


def _confirmed(
    subject: Repeatable,
    dependence: Dependence,
    small: Document,
    outcome: DrivenRebalance,
    cooperative: bool,
) -> DrivenRebalance | None:
    """Return the outcome of a smaller instance, if new processes show the same."""
    if outcome.rounds[0].answer.assignment is None:
        return None
    for _ in range(CONFIRMATIONS):
        found = difference_by(
            dependence,
            lambda line, hash_seed, _number: subject.ask_new(line, hash_seed),
            small,
            cooperative=cooperative,
        )
        if found is not None:
            return as_nondeterministic(replace(outcome, difference=found))
    return None
