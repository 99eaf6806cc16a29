"""Pigeonhole bounds where there are too many classes of members for every lag.

Reaches into `solver.peak_lag` to compare its bounds with the judge and each other.
"""

from __future__ import annotations

import pytest

from solver.peak_lag import bounds
from tests.references.brute import Brute
from tests.solver.peak_lag.settings import lagging
from tests.solver.peak_lag.test_answers import check
from tests.support.strategies import TINY
from verify import TooLarge


@pytest.mark.parametrize("cells", [1, 5])
@pytest.mark.parametrize("seed", range(10))
def test_the_judge_adds_them_up(
    seed: int, cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = lagging(seed, TINY)
    monkeypatch.setattr(bounds, "_ENTRIES", cells)
    try:
        brute = Brute(document)
    except TooLarge:
        return
    for policy in ("dec-min; peak-lag", "per-topic; peak-lag", "none; peak-lag"):
        if document["topics"]:
            check(document, policy, brute.best(policy) or [])
