"""The lower bound at which ``lag-swaps`` ends: never above the least peak lag.

Reaches into `heuristics` to compare the bound with every assignment.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings

from heuristics.eligible_members import eligible_members_of
from heuristics.group_columns import GroupColumns, columns_of
from heuristics.lowest_peak import lowest_peak
from tests.heuristics.routes import instance, layable
from tests.references.brute import best_values
from tests.support.shapes import Document, member, rebalance
from verify import TooLarge

FEW, MORE = 6, 7
"""Classes of which all sets are examined."""


def bound(document: Document, classes: int = FEW) -> int:
    laid_out = instance(document)
    assert laid_out.lag is not None
    group = GroupColumns(*columns_of(laid_out))
    eligible = eligible_members_of(group)
    wanted = eligible.last - eligible.first
    least = laid_out.topic_sizes // np.maximum(wanted, 1) * (wanted > 0)
    return lowest_peak(group, laid_out.lag, least, wanted, classes)


def of_all(lags: list[list[int]], members: int) -> Document:
    topics = {
        f"t{i}": {"partitions": len(lag), "lag": lag} for i, lag in enumerate(lags)
    }
    return rebalance(topics, {f"m{i}": member([*topics]) for i in range(members)})


def of_classes(others: int) -> Document:
    """Give two members a topic of their own; each other one has a topic, too."""
    topics = {"t": {"partitions": 3, "lag": [6, 6, 6]}}
    topics |= {f"u{i}": {"partitions": 1, "lag": [0]} for i in range(others)}
    members = {f"m{i}": member([f"u{i}"]) for i in range(others)}
    return rebalance(topics, {"a": member(["t"]), "b": member(["t"]), **members})


def alike(document: Document) -> Document:
    """Leave capacities out: the assignor does not know them."""
    members = {
        name: {key: value for key, value in about.items() if key != "capacity"}
        for name, about in document["members"].items()
    }
    return document | {"members": members}


@pytest.mark.parametrize(
    ("document", "least"),
    [
        pytest.param(of_all([[3, 2, 2]], 2), 4, id="the mean, rounded up"),
        pytest.param(of_all([[9, 1, 1]], 3), 9, id="the largest alone"),
        pytest.param(of_all([[9, 1, 2], [5, 3, 4]], 3), 12, id="with another topic"),
        pytest.param(of_all([[9, 1, 2, 3]], 2), 10, id="with its own topic"),
        pytest.param(of_all([[], [7]], 2), 7, id="an empty topic"),
        pytest.param(
            rebalance(
                {
                    "t": {"partitions": 1, "lag": [9]},
                    "u": {"partitions": 2, "lag": [4, 4]},
                },
                {"a": member(["t"]), "b": member(["u"])},
            ),
            9,
            id="what not all want is not beside it",
        ),
        pytest.param(rebalance({"t": {"partitions": 1, "lag": [9]}}, {}), 0, id="none"),
        pytest.param(of_classes(5), 9, id="the mean of some members"),
        pytest.param(of_classes(6), 6, id="too many classes for all their sets"),
        pytest.param(
            rebalance(
                {
                    "t": {"partitions": 1, "lag": [9]},
                    "u": {"partitions": 4, "lag": [4, 4, 1, 1]},
                    "v": {"partitions": 3, "lag": [2, 2, 2]},
                },
                {"a": member(["t", "u"]), "b": member(["t", "v"]), "c": member(["u"])},
            ),
            11,
            id="the largest at its best holder, with half of its other topic",
        ),
    ],
)
def test_what_it_says(document: Document, least: int) -> None:
    assert bound(document) == least


def test_with_more_classes_it_examines_more_sets() -> None:
    assert bound(of_classes(6), MORE) == 9


@settings(deadline=None)
@given(layable())
@example(of_all([[9, 1, 2], [5, 3, 4], [1, 1]], 3))
def test_nothing_is_lower(document: Document) -> None:
    plain = alike(document)
    if instance(plain).lag is None:
        return
    try:
        best = best_values(plain, "per-topic; peak-lag")
    except TooLarge:
        return
    assert best is not None
    assert isinstance(best[0], int)
    assert bound(plain) <= bound(plain, MORE) <= best[0]
