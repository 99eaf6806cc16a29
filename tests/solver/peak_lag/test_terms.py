"""Terms where members are of too many kinds to look at every lag."""

from __future__ import annotations

import pytest

from solver.limits import Limits
from solver.peak_lag import terms
from solver.peak_lag.terms import best_crowd
from solver.peak_lag.work import Work
from tests.solver.brute import Brute
from tests.solver.peak_lag.settings import lagging, settings_of
from tests.solver.peak_lag.test_answers import check
from tests.solver.routes import INSTANCES
from tests.strategies import TINY
from verify import TooLarge


@pytest.mark.parametrize("cells", [1, 2])
def test_large_lags_alone_prove_what_holds(
    cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Brute force and the judge agree, and now and then less is proved."""
    proved, less, none = 0, 0, 0
    for seed in range(max(40, INSTANCES // 100)):
        document = lagging(seed, TINY)
        try:
            brute = Brute(document)
        except TooLarge:
            continue
        for setting, balance in zip(
            settings_of(document), ("dec-min", "per-topic", "none"), strict=False
        ):
            whole = best_crowd(setting, Work(limits=Limits()))
            with monkeypatch.context() as patch:
                patch.setattr(terms, "_CELLS", cells)
                some = best_crowd(setting, Work(limits=Limits()))
            (best,) = brute.best(f"{balance}; peak-lag") or [0]
            assert isinstance(best, int)
            assert all(crowd.bound <= best for crowd in [*whole, *some])
            none += bool(whole) and not some
            if some:
                highest = max(crowd.bound for crowd in whole)
                proved += max(crowd.bound for crowd in some) == highest
                less += max(crowd.bound for crowd in some) < highest
    assert proved > 20
    assert less + none > 0


@pytest.mark.parametrize("seed", range(20))
def test_the_judge_adds_them_up(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    document = lagging(seed, TINY)
    monkeypatch.setattr(terms, "_CELLS", 5)
    try:
        brute = Brute(document)
    except TooLarge:
        return
    for policy in ("dec-min; peak-lag", "per-topic; peak-lag", "none; peak-lag"):
        if document["topics"]:
            check(document, policy, brute.best(policy) or [])
