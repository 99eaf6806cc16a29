"""Effort is counted in steps, and what ended a search is stated.

Reaches into `solver.peak_lag.work`, whose counts decide where every search ends.
"""

from __future__ import annotations

from math import inf
from threading import Event

import pytest

from solver import Limits
from solver.peak_lag.work import STEPS_PER_UNIT, Work


def spent(units: float, **limits: float | None) -> Work:
    work = Work(limits=Limits(**limits))  # type: ignore[arg-type]
    work.spend(int(units * STEPS_PER_UNIT))
    return work


def test_steps_add_up() -> None:
    work = spent(1.5)
    work.spend(STEPS_PER_UNIT // 2)
    assert work.spent == 2.0


@pytest.mark.parametrize(
    ("limit", "seconds", "left"),
    [(None, 3.0, 3.0), (10.0, 3.0, 3.0), (3.0, 3.0, 1.0), (1.0, 3.0, 0.0)],
)
def test_what_is_left_of_some_effort(
    limit: float | None, seconds: float, left: float
) -> None:
    work = spent(2.0, effort=limit)
    assert work.left(seconds) == left
    assert work.limits_within(seconds).effort == 2.0 + left


def test_without_a_limit_there_is_no_end() -> None:
    assert spent(2.0).limits_within(inf).effort is None
    assert spent(2.0, effort=5.0).limits_within(inf).effort == 5.0


def test_other_limits_are_kept() -> None:
    stop = Event()
    within = Work(limits=Limits(seed=7, stop=stop)).limits_within(1.0)
    assert (within.seed, within.stop, within.effort) == (7, stop, 1.0)


def test_effort_is_exceeded_when_it_is_spent() -> None:
    assert spent(1.9, effort=2.0).exceeded() is None
    assert spent(2.0, effort=2.0).exceeded() == "effort limit of 2"


def test_the_first_limit_that_is_reached_is_the_reason() -> None:
    work = spent(2.0, effort=2.0)
    assert work.reason(is_searchable=True) == "effort limit of 2"
    stop = Event()
    stopped = Work(limits=Limits(effort=2.0, stop=stop))
    stop.set()
    first = stopped.exceeded()
    assert first is not None
    stopped.spend(9 * STEPS_PER_UNIT)
    assert stopped.reason(is_searchable=True) == first


def test_reasons_without_a_limit_that_was_reached() -> None:
    assert spent(1.0).reason(is_searchable=True) == "the search found no end"
    searched = spent(1.0, effort=2.0)
    assert searched.reason(is_searchable=True) == "effort limit of 2"
    large = spent(1.0, effort=2.0)
    assert large.reason(is_searchable=False) == "too large for a search to the end"
