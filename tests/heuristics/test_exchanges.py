"""Exchanges of partitions: each kind of exchange is needed by some assignment.

Reaches into `heuristics` to compare exchanges with sums counted anew.
"""

from __future__ import annotations

import numpy as np
import pytest

from heuristics.assignment_state import empty_state, give
from heuristics.eligible_members import EligibleMembers, eligible_members_of
from heuristics.exchanges import Laden, exchange
from heuristics.group_columns import GroupColumns, columns_of
from tests.heuristics.routes import instance
from tests.shapes import member, rebalance

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
    group = Laden(laid_out.lag, laid_out.partition_topic, least, total, held)
    return group, eligible_members_of(GroupColumns(*columns_of(laid_out)))


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
    assert exchange(group, eligible, 0, ENDLESS) > 0
    assert group.total.max() == least


def test_a_peak_lag_that_is_low_enough_is_kept() -> None:
    group, eligible = dealt([[2], [7], [1, 1, 0]], ["b", "a", "bab"])
    before = group.state.holder.copy()
    assert exchange(group, eligible, int(group.total.max()), ENDLESS) == ENDLESS
    assert (group.state.holder == before).all()


def test_without_comparisons_nothing_changes() -> None:
    group, eligible = dealt([[2], [7], [1, 1, 0]], ["b", "a", "bab"])
    before = group.state.holder.copy()
    assert exchange(group, eligible, 0, 0) == 0
    assert (group.state.holder == before).all()
