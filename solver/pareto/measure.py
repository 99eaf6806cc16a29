"""How uneven loads are: two measures, both counts of partitions.

Capacities play no part: Kafka's own score knows none. Write n(v) for the members whose
load is v or more, M for all members of the group. Then both are sums over v = 1, 2, ...

    KIP-54's score      Σ_v n(v) · (M − n(v))
    sum of squares      Σ_v (2v − 1) · n(v)

Both stay odd, or stay even, whatever moves: a transfer changes them by a multiple of 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

import numpy as np

from rebalance.claims import Int64


class Measure(Enum):
    """What to make small."""

    SCORE = "kip54-score"
    """Kafka's balance score: the sum over pairs of members of how far loads differ."""

    SQUARES = "sum-of-squares"

    def of(self, loads: Sequence[int]) -> int:
        """Measure the loads of all members of a group."""
        if self is Measure.SQUARES:
            return sum(n * n for n in loads)
        ranked, last = sorted(loads), len(loads) - 1
        return sum(n * (2 * place - last) for place, n in enumerate(ranked))

    def costs(self, members: int, top: int) -> Int64:
        """Return what n members that reach v add, int64 (top, members + 1)."""
        n = np.arange(members + 1, dtype=np.int64)
        if self is Measure.SQUARES:
            levels = np.arange(1, 2 * top, 2, dtype=np.int64)
            return levels[:, None] * n
        return np.repeat((n * (members - n))[None, :], top, axis=0)


def tangent_of(profile: Sequence[int], members: int) -> list[int]:
    """Return prices w that touch the score at a profile n: M − 2 · n(v).

    For every other profile n' the score is at most that of n plus Σ w · (n' − n), as
    each n · (M − n) is concave; and w never decreases in v, as n never increases.
    """
    return [members - 2 * n for n in profile]
