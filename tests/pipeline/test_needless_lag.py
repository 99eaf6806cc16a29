"""Lag of needless moves: of as many moved partitions as are beyond the fewest."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.evaluation import needless_lag
from rebalance import NOBODY, Int32

LAGS = st.lists(st.integers(0, 50), min_size=1, max_size=7)
HOLDERS = st.sampled_from("abc")


def places_of(holders: Sequence[str | None]) -> Int32:
    places = [NOBODY if name is None else "abc".index(name) for name in holders]
    return np.array(places, np.int32)


@pytest.mark.heavy
@given(st.data())
def test_no_choice_of_needless_moves_has_less_lag(data: st.DataObject) -> None:
    lag = data.draw(LAGS)
    size = len(lag)
    owners = data.draw(st.lists(HOLDERS | st.none(), min_size=size, max_size=size))
    holders = data.draw(st.lists(HOLDERS, min_size=size, max_size=size))
    moved = [
        records
        for records, owner, holder in zip(lag, owners, holders, strict=True)
        if owner not in (None, holder)
    ]
    needless = data.draw(st.integers(0, len(moved)))
    best = min(sum(some) for some in combinations(moved, needless))
    columns = np.array(lag), places_of(owners), places_of(holders)
    assert needless_lag(*columns, needless) == best


def test_new_partitions_are_not_moved() -> None:
    owner, assignee = places_of(["a", "a", None]), places_of(["b", "b", "b"])
    for needless, least in ((1, 5), (2, 12), (0, 0), (-1, 0)):
        assert needless_lag(np.array([5, 7, 9]), owner, assignee, needless) == least


def test_lag_that_is_not_known_is_none_of_a_move() -> None:
    owner, assignee = places_of(["a"]), places_of(["b"])
    assert needless_lag(np.array([], np.int64), owner, assignee, 1) == 0
