"""Lag of needless moves: of as many moved partitions as are beyond the fewest."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.evaluation import needless_lag
from rebalance import instance_of, rebalance_of
from tests.shapes import Document

LAGS = st.lists(st.integers(0, 50), min_size=1, max_size=7)
HOLDERS = st.sampled_from("abc")


def document(lag: list[int], owners: list[str | None]) -> Document:
    return {
        "format": "rebalance/1",
        "group": "g",
        "topics": {"t": {"partitions": len(lag), "lag": lag}, "u": {"partitions": 1}},
        "members": {
            name: {"subscription": ["t", "u"], "owned": {"t": numbers_of(name, owners)}}
            for name in "abc"
        },
    }


def numbers_of(name: str, holders: Sequence[str | None]) -> list[int]:
    return [number for number, one in enumerate(holders) if one == name]


@pytest.mark.heavy
@given(st.data())
def test_no_choice_of_needless_moves_has_less_lag(data: st.DataObject) -> None:
    lag = data.draw(LAGS)
    size = len(lag)
    owners = data.draw(st.lists(HOLDERS | st.none(), min_size=size, max_size=size))
    holders = data.draw(st.lists(HOLDERS, min_size=size, max_size=size))
    moved = [
        one
        for one, owner, holder in zip(lag, owners, holders, strict=True)
        if owner not in (None, holder)
    ]
    needless = data.draw(st.integers(0, len(moved)))
    instance = instance_of(rebalance_of(document(lag, owners)))
    answer = {"members": {name: {"t": numbers_of(name, holders)} for name in "abc"}}
    best = min(sum(some) for some in combinations(moved, needless))
    assert needless_lag(instance, answer, needless) == best


def test_new_partitions_are_not_moved() -> None:
    instance = instance_of(rebalance_of(document([5, 7, 9], ["a", "a", None])))
    answer = {"members": {"a": {}, "b": {"t": [0, 1, 2]}, "c": {"u": [0]}}}
    assert needless_lag(instance, answer, 1) == 5
    assert needless_lag(instance, answer, 2) == 12
    assert needless_lag(instance, answer, 0) == 0
    assert needless_lag(instance, answer, -1) == 0
