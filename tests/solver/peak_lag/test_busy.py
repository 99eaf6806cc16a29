"""Exchanges of what has lag alone leave a place for all the rest."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from solver.peak_lag.busy import busy_of
from solver.peak_lag.deal import deal
from solver.peak_lag.hands import hands_of, peak_of, peak_with
from solver.peak_lag.settle import settle
from tests.shapes import Document, member, rebalance
from tests.solver.peak_lag.settings import lagging, settings_of
from tests.solver.peak_lag.test_settle import ANYTHING, check_allowed
from tests.strategies import LARGER

SEEDS = range(60)


def mostly_idle(seed: int) -> Document:
    """Return a rebalance in which few partitions have lag."""
    document = lagging(seed, LARGER)
    rng = Random(seed)  # noqa: S311
    for topic in document["topics"].values():
        topic["lag"] = [n if rng.random() < 0.3 else 0 for n in topic["lag"]]
    return document


def filled_settings(seed: int) -> int:
    """Exchange in every setting that can be made smaller; return how many can."""
    found = 0
    for setting in settings_of(mostly_idle(seed)):
        busy, start = busy_of(setting.room), deal(setting)
        if busy is None or not busy.may_hold(start):
            continue
        found += 1
        hands = hands_of(busy.room, start[busy.rows])
        assert (hands.counts <= busy.room.most).all()
        cap = np.zeros(busy.room.unit.size, np.int64)
        settled = settle(busy.room, hands, ANYTHING, cap, seed, 300_000)
        holder = busy.filled(settled.holder)
        assert holder is not None
        check_allowed(setting, holder)
        assert (holder[busy.rows] == settled.holder).all()
        assert peak_with(setting.room, holder) == settled.peak
        assert settled.peak <= peak_of(busy.room, hands_of(busy.room, start[busy.rows]))
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_there_is_a_place_for_the_rest(seed: int) -> None:
    filled_settings(seed)


def test_many_settings_are_made_smaller() -> None:
    assert sum(filled_settings(seed) for seed in range(20)) > 10


def test_extras_are_for_all_or_for_none() -> None:
    """One of twelve may hold two: three partitions with lag could not all be extra."""
    topics = {
        "t": {"partitions": 13, "lag": [5] * 6 + [0] * 7},
        "u": {"partitions": 5, "lag": [5] + [0] * 4},
    }
    members = {f"m{i:02}": member(["t", "u"]) for i in range(12)}
    for setting in settings_of(rebalance(topics, members)):
        if setting.room.by_topic:
            busy = busy_of(setting.room)
            assert busy is not None
            assert (busy.room.most[setting.room.pool == 0] == 1).all()
            assert (busy.room.most[setting.room.pool == 1] == 1).all()
            assert not busy.room.least.any()
