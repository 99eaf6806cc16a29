"""The bound on transfers, with a count of transfers one by one, and with real ones."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pyarrow as pa

from pipeline.tables import least_transfers
from tests.references.even_loads import fewest_transfers


def test_the_bound_is_the_number_that_loses_the_gap() -> None:
    gap, members = (column.ravel() for column in np.meshgrid(range(40), range(1, 9)))
    found = least_transfers(*map(pa.array, (gap + 7, np.full(gap.size, 7), members)))
    assert found.to_pylist() == [
        fewest_transfers(score + 7, 7, count)
        for score, count in zip(gap.tolist(), members.tolist(), strict=True)
    ]


def test_no_loads_are_balanced_by_fewer_transfers() -> None:
    """With equal subscriptions, each partition beyond the even loads is transferred."""
    for members in (2, 3, 4):
        for loads in combinations_with_replacement(range(6), members):
            few, more = divmod(sum(loads), members)
            even = [few] * (members - more) + [few + 1] * more
            scores = [
                [sum(abs(a - b) for a in given for b in given) // 2]
                for given in (loads, even)
            ]
            (found,) = least_transfers(*map(pa.array, (*scores, [members]))).to_pylist()
            needed = sum(
                max(load - target, 0) for load, target in zip(loads, even, strict=True)
            )
            assert found <= needed, loads


def test_an_unknown_score_has_no_bound() -> None:
    scores = pa.array([9, None]), pa.array([None, 7], pa.int64())
    found = least_transfers(*scores, pa.array([3, 3]))
    assert found.to_pylist() == [None, None]
