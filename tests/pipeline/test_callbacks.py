"""The comparison of callbacks with records finds what is wrong."""

from __future__ import annotations

import pytest

from tests.pipeline.callbacks import (
    KILLED,
    SEEN,
    SUPERSEDED,
    change_matches,
    follows,
    generation_matches,
)
from tests.pipeline.recorded import Pairs
from tests.pipeline.recorded_groups import Called, Given, Life


def held(*numbers: int) -> Pairs:
    return frozenset(("t", n) for n in numbers)


def life(*called: Called, ended: str = "kill", ended_ms: int = 1000) -> Life:
    return Life(
        client="c", start={}, subscriptions=(), ended=ended, ended_ms=ended_ms,
        called=called, member_ids=frozenset(),
    )  # fmt: skip


def called(at: int, *numbers: int, generation: int | None = None) -> Called:
    return Called("assign", generation, held(*numbers), at)


GIVEN = [Given(1, held(0, 1), 10), Given(2, held(0), 20), Given(3, held(0, 2), 900)]


def test_each_generation_has_its_callback() -> None:
    one = life(called(11, 0, 1), called(21, 0), called(910, 0, 2))
    assert [m.status for m in generation_matches(one, GIVEN)] == [SEEN] * 3


def test_a_generation_that_is_answered_again() -> None:
    one = life(called(11, 0, 1), called(15, 0, 1), called(21, 0), called(910, 0, 2))
    assert [m.status for m in generation_matches(one, GIVEN)] == [SEEN] * 3


def test_a_callback_before_its_record() -> None:
    with pytest.raises(AssertionError, match="not in the records"):
        list(generation_matches(life(called(9, 0, 1)), GIVEN))


def test_a_callback_is_for_the_latest_generation() -> None:
    given = [GIVEN[0], GIVEN[1], Given(3, held(0, 1), 30)]
    one = life(called(11, 0, 1), called(31, 0, 1), ended_ms=60_000)
    statuses = [m.status for m in generation_matches(one, given)]
    assert statuses == [SEEN, SUPERSEDED, SEEN]


def test_half_of_a_change() -> None:
    given = [Given(1, held(0, 1), 10), Given(2, held(1, 2), 20)]
    half = Called("revoke", None, held(1), 21)
    one = life(called(11, 0, 1), half, called(22, 1, 2))
    assert [m.status for m in change_matches(one, given)] == [SEEN, SEEN]
    with pytest.raises(AssertionError, match="not in the records"):
        list(change_matches(life(called(11, 0, 1), half), given))


def test_a_generation_between_two_callbacks_was_replaced() -> None:
    one = life(called(11, 0, 1), called(910, 0, 2))
    statuses = [m.status for m in generation_matches(one, GIVEN)]
    assert statuses == [SEEN, SUPERSEDED, SEEN]


def test_a_killed_consumer_misses_the_last_generation() -> None:
    one = life(called(11, 0, 1), called(21, 0))
    statuses = [m.status for m in generation_matches(one, GIVEN)]
    assert statuses == [SEEN, SEEN, KILLED]


@pytest.mark.parametrize("match", [generation_matches, change_matches])
def test_a_callback_that_no_record_explains(match: object) -> None:
    one = life(called(11, 0, 1), called(21, 5))
    with pytest.raises(AssertionError, match="not in the records"):
        list(match(one, GIVEN))  # type: ignore[operator]


def test_a_callback_of_another_generation() -> None:
    one = life(called(11, 0, 1, generation=2))
    with pytest.raises(AssertionError, match="not in the records"):
        list(generation_matches(one, GIVEN))


@pytest.mark.parametrize("match", [generation_matches, change_matches])
def test_an_assignment_without_a_reason(match: object) -> None:
    one = life(called(11, 0, 1), called(21, 0), ended_ms=60_000)
    with pytest.raises(AssertionError, match="never called back"):
        list(match(one, GIVEN))  # type: ignore[operator]


def test_a_state_that_is_recorded_twice_needs_one_callback() -> None:
    given = [Given(1, held(0), 10), Given(2, held(0), 20), Given(2, held(0, 1), 30)]
    one = life(called(11, 0), called(12, 0), called(31, 0, 1))
    assert [m.status for m in change_matches(one, given)] == [SEEN, SEEN]


def test_states_out_of_order() -> None:
    assert follows([held(0), held(1)], [held(1), held(0), held(1)]) is None
    assert follows([held(0), held(1)], [held(1), held(0)]) == held(1)
