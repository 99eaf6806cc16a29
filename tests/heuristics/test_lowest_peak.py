"""The lower bound at which ``lag-swaps`` ends: never above the least peak lag.

Reaches into `heuristics` to compare the bound with every assignment.
"""

from __future__ import annotations

import numpy as np
from hypothesis import example, given, settings

from heuristics.eligible_members import eligible_members_of
from heuristics.group_columns import GroupColumns, columns_of
from heuristics.lowest_peak import lowest_peak
from rebalance import Instance, Int64
from tests.heuristics.routes import instance, layable
from tests.references.brute import best_values
from tests.support.shapes import Document, member, rebalance
from verify import TooLarge

FEW, MORE = 6, 7
"""Classes of which all sets are examined."""


def searched(laid_out: Instance) -> tuple[GroupColumns, Int64, Int64, Int64]:
    """Return the group, lags, and per topic the least share and the members."""
    assert laid_out.lag is not None
    group = GroupColumns(*columns_of(laid_out))
    eligible = eligible_members_of(group)
    wanted = eligible.last - eligible.first
    least = laid_out.topic_sizes // np.maximum(wanted, 1) * (wanted > 0)
    return group, laid_out.lag, least, wanted


def bound(document: Document, classes: int = FEW) -> int:
    group, lag, least, wanted = searched(instance(document))
    return lowest_peak(group, lag, least, wanted, classes)


def of_all(lags: list[list[int]], members: int) -> Document:
    topics = {
        f"t{i}": {"partitions": len(lag), "lag": lag} for i, lag in enumerate(lags)
    }
    return rebalance(topics, {f"m{i}": member([*topics]) for i in range(members)})


def alike(document: Document) -> Document:
    """Leave capacities out: the assignor does not know them."""
    members = {
        name: {key: value for key, value in about.items() if key != "capacity"}
        for name, about in document["members"].items()
    }
    return document | {"members": members}


def least_peak_of(document: Document) -> int | None:
    """Try every assignment; None without lag, or if there are too many."""
    if instance(document).lag is None:
        return None
    try:
        best = best_values(document, "per-topic; peak-lag")
    except TooLarge:
        return None
    assert best is not None
    assert isinstance(best[0], int)
    return best[0]


@settings(deadline=None)
@given(layable())
@example(of_all([[9, 1, 2], [5, 3, 4], [1, 1]], 3))
def test_nothing_is_lower(document: Document) -> None:
    plain = alike(document)
    least = least_peak_of(plain)
    if least is not None:
        assert bound(plain) <= bound(plain, MORE) <= least
