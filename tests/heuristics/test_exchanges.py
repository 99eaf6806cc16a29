"""Exchanges of partitions: each kind of exchange is needed by some assignment.

Reaches into `heuristics` to compare exchanges, and what they need, with slow sums.
"""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heuristics.assignment_state import empty_state, give
from heuristics.eligible_members import EligibleMembers, eligible_members_of
from heuristics.exchanges import (
    ExchangeLists,
    Laden,
    exchange,
    exchange_lists,
    reliefs,
    sort_by_total,
)
from heuristics.group_columns import GroupColumns, columns_of
from tests.heuristics.routes import instance
from tests.support.shapes import member, rebalance
from tests.support.strategies import generators

ENDLESS = 10**9


def dealt(lags: list[list[int]], holders: list[str]) -> tuple[Laden, EligibleMembers]:
    """Lay out a group of which all want all; holders are letters, topic by topic."""
    topics = {
        f"t{i}": {"partitions": len(lag), "lag": lag} for i, lag in enumerate(lags)
    }
    members = "".join(sorted(set("".join(holders))))
    laid_out = instance(rebalance(topics, {m: member([*topics]) for m in members}))
    assert laid_out.lag is not None
    total = np.zeros(len(members), np.int64)
    held = empty_state(len(members), laid_out.n_partitions)
    for p, letter in enumerate("".join(holders)):
        give(held, p, members.index(letter))
        total[members.index(letter)] += laid_out.lag[p]
    least = laid_out.topic_sizes // len(members)
    rows = np.lexsort((-laid_out.lag, laid_out.partition_topic))
    relief = reliefs(laid_out.lag, rows, laid_out.topic_offsets)
    group = Laden(laid_out.lag, laid_out.partition_topic, least, relief, total, held)
    return group, eligible_members_of(GroupColumns(*columns_of(laid_out)))


def lists_of(group: Laden) -> ExchangeLists:
    """Make the working memory of a group."""
    return exchange_lists(group.least.size, group.lag.size, group.total.size)


@pytest.mark.parametrize(
    ("lags", "holders", "least"),
    [
        pytest.param([[2], [7], [1, 1, 0]], ["b", "a", "bab"], 7, id="a swap"),
        pytest.param([[9, 4, 4, 2], [2], [9, 2]], ["cbab", "b", "ab"], 11, id="a gift"),
    ],
)
def test_each_kind_of_exchange_is_needed(
    lags: list[list[int]], holders: list[str], least: int
) -> None:
    """Without it the peak is one higher."""
    group, eligible = dealt(lags, holders)
    assert exchange(group, eligible, lists_of(group), 0, ENDLESS) > 0
    assert group.total.max() == least


def test_a_peak_lag_that_is_low_enough_is_kept() -> None:
    group, eligible = dealt([[2], [7], [1, 1, 0]], ["b", "a", "bab"])
    before = group.state.holder.copy()
    assert (
        exchange(group, eligible, lists_of(group), int(group.total.max()), ENDLESS)
        == ENDLESS
    )
    assert (group.state.holder == before).all()


def test_without_comparisons_nothing_changes() -> None:
    group, eligible = dealt([[2], [7], [1, 1, 0]], ["b", "a", "bab"])
    before = group.state.holder.copy()
    assert exchange(group, eligible, lists_of(group), 0, 0) == 0
    assert (group.state.holder == before).all()


def test_a_relief_is_the_least_that_any_exchange_takes() -> None:
    """An exchange takes a lag, less that of another partition of the topic, or 0."""
    lags = [[5, 0, 9, 5, 0], [], [7], [0]]
    lag = np.array([given for listed in lags for given in listed])
    begins = np.r_[0, np.cumsum([len(listed) for listed in lags])]
    rows = np.lexsort((-lag, np.repeat(range(4), np.diff(begins))))
    taken = [
        min((given - other for other in (0, *listed) if other < given), default=0)
        for listed in lags
        for given in listed
    ]
    assert reliefs(lag, rows, begins).tolist() == taken == [5, 0, 4, 5, 0, 7, 0]


@given(st.lists(st.integers(0, 3), max_size=60), generators())
def test_members_are_sorted_by_total_then_by_place(
    totals: list[int], rng: Random
) -> None:
    total = np.array(totals, dtype=np.int64)
    members = np.array(rng.sample(range(total.size), total.size), dtype=np.int64)
    sort_by_total(total, members)
    assert members.tolist() == np.argsort(total, kind="stable").tolist()
