"""Pigeonhole bounds where there are too many classes of members for every lag.

Reaches into `solver.peak_lag` to compare its bounds with the judge and each other.
"""

from __future__ import annotations

import pytest

from solver import Limits
from solver.peak_lag import bounds
from solver.peak_lag.bounds import pigeonhole_bounds
from solver.peak_lag.work import Work
from tests.references.brute import Brute
from tests.solver.peak_lag.settings import lag_instances, lagging
from tests.solver.peak_lag.test_answers import check
from tests.support.amount import INSTANCES, seeds
from tests.support.strategies import TINY
from verify import TooLarge


def test_all_thresholds_are_tried_while_no_limit_is_exceeded() -> None:
    bound_of = {3: 5, 2: 7, 1: 7}.__getitem__
    assert bounds._best([3, 2, 1], bound_of, 1, Work(limits=Limits())) == (7, 2)
    spent = Work(limits=Limits(effort=1))
    spent.spend(10**12)
    assert spent.exceeded() is not None
    assert bounds._best([3, 2, 1], bound_of, 1, spent) == (5, 3)


@pytest.mark.parametrize("cells", [1, 2])
def test_large_lags_alone_prove_valid_bounds(
    cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Brute force and the judge agree, and now and then less is proved."""
    proved, less, none = 0, 0, 0
    for seed in seeds(max(40, INSTANCES // 100)):
        document = lagging(seed, TINY)
        try:
            brute = Brute(document)
        except TooLarge:
            continue
        for lag_instance, balance in zip(
            lag_instances(document), ("dec-min", "per-topic", "none"), strict=False
        ):
            whole = pigeonhole_bounds(lag_instance.region, Work(limits=Limits()))
            with monkeypatch.context() as patch:
                patch.setattr(bounds, "_ENTRIES", cells)
                some = pigeonhole_bounds(lag_instance.region, Work(limits=Limits()))
            (best,) = brute.best(f"{balance}; peak-lag") or [0]
            assert isinstance(best, int)
            assert all(bound <= best for _, bound, _ in [*whole, *some])
            none += bool(whole) and not some
            if some:
                highest = max(bound for _, bound, _ in whole)
                proved += max(bound for _, bound, _ in some) == highest
                less += max(bound for _, bound, _ in some) < highest
    assert proved > 5
    assert less + none > 0


@pytest.mark.parametrize("seed", range(20))
def test_the_judge_adds_them_up(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    document = lagging(seed, TINY)
    monkeypatch.setattr(bounds, "_ENTRIES", 5)
    try:
        brute = Brute(document)
    except TooLarge:
        return
    for policy in ("dec-min; peak-lag", "per-topic; peak-lag", "none; peak-lag"):
        if document["topics"]:
            check(document, policy, brute.best(policy) or [])
