"""Dealing and exchanging keep seats and counts, and keep the books right."""

from __future__ import annotations

import numpy as np
import pytest

from rebalance.claims import Int32
from solver.peak_lag.deal import _all_seats, _dealt_by_heaps, _dealt_in_rounds, deal
from solver.peak_lag.hands import hands_of, peak_of
from solver.peak_lag.room import place_of
from solver.peak_lag.setting import Setting
from solver.peak_lag.settle import settle
from tests.solver.peak_lag.settings import lagging, settings_of
from tests.strategies import LARGER

SEEDS = range(40)
ANYTHING = np.zeros(0, np.int32)


def check_allowed(setting: Setting, holder: Int32) -> None:
    """Assert that seats and limits hold, pools included."""
    room = setting.room
    for p, c in enumerate(holder.tolist()):
        assert place_of(room, int(room.topic[p]), c) >= 0
    counts = hands_of(room, holder).counts
    assert (room.least <= counts).all()
    assert (counts <= room.most).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_hands_are_dealt_within_limits(seed: int) -> None:
    for setting in settings_of(lagging(seed, LARGER)):
        check_allowed(setting, deal(setting))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_ways_to_deal_agree_on_limits(seed: int) -> None:
    for setting in settings_of(lagging(seed, LARGER)):
        room = setting.room
        if setting.start is not None or not room.lag.size:
            continue
        seats = _all_seats(room)
        by_lag = np.argsort(-room.lag, kind="stable")
        by_topic = np.lexsort((-room.lag, room.topic))
        check_allowed(setting, _dealt_by_heaps(room, by_lag, seats))
        check_allowed(setting, _dealt_in_rounds(room, by_topic, seats))


@pytest.mark.parametrize("seed", SEEDS)
def test_exchanges_keep_limits_and_books(seed: int) -> None:
    for setting in settings_of(lagging(seed, LARGER)):
        room = setting.room
        if not room.lag.size:
            continue
        start = deal(setting)
        hands = hands_of(room, start)
        before = peak_of(room, hands)
        weights = setting.scale // room.unit
        cap = room.lag.sum() * weights // weights.sum()
        found = settle(room, hands, ANYTHING, cap, seed, 300_000)
        check_allowed(setting, hands.holder)
        check_allowed(setting, found.holder)
        again = hands_of(room, hands.holder)
        assert (again.total == hands.total).all()
        assert (again.counts == hands.counts).all()
        assert (again.load == hands.load).all()
        assert found.over == np.maximum(again.total - cap, 0).sum()
        assert found.peak == peak_of(room, hands_of(room, found.holder)) <= before


@pytest.mark.parametrize("seed", SEEDS)
def test_settled_moves_stay_settled(seed: int) -> None:
    for setting in settings_of(lagging(seed, LARGER)):
        room = setting.room
        if room.by_topic or not room.lag.size:
            continue
        start = deal(setting)
        hands = hands_of(room, start)
        cap = np.full(room.unit.size, room.lag.sum() // room.unit.size)
        settle(room, hands, setting.owner, cap, seed, 300_000)
        check_allowed(setting, hands.holder)
        assert (hands.load == hands_of(room, start).load).all()
        kept = (start == setting.owner).sum()
        assert (hands.holder == setting.owner).sum() == kept


def test_uniform_lag_meets_the_average() -> None:
    rng = np.random.default_rng(0)
    lag = rng.integers(0, 100_000, size=200).tolist()
    document = {
        "format": "rebalance/1",
        "group": "g",
        "topics": {"t": {"partitions": 200, "lag": lag}},
        "members": {f"m{i:02}": {"subscription": ["t"]} for i in range(20)},
    }
    setting = settings_of(document)[0]
    hands = hands_of(setting.room, deal(setting))
    cap = np.full(20, -(-sum(lag) // 20))
    assert settle(setting.room, hands, ANYTHING, cap, 0, 400_000_000).over == 0
    check_allowed(setting, hands.holder)
