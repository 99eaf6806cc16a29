"""How many partitions each of some alike subscribers may hold, with capacities.

The dec-min way to share n equal units out over members of weights w: unit after unit to
the member whose next one has the least key, (count + 1) ÷ w, the larger w first. Keys
tie only between members of one weight and one count, so every member's share is fixed
but for those at the last key, of whom some get one more.
"""

from __future__ import annotations

import heapq
from fractions import Fraction
from typing import NamedTuple


class Quota(NamedTuple):
    """Limits of each member, and how many of them reach the upper one.

    Attributes
    ----------
    least, most : tuple of int
        By member; they differ by one at most.
    extra : int
        So many members hold ``most`` of those whose limits differ.
    """

    least: tuple[int, ...]
    most: tuple[int, ...]
    extra: int


def even_quota(units: int, members: int) -> Quota:
    """Share out among members of equal weight."""
    each, extra = divmod(units, members)
    most = each + 1 if extra else each
    return Quota((each,) * members, (most,) * members, extra)


def quota(units: int, weights: tuple[int, ...]) -> Quota:
    """Share out by weight.

    What lies at or below the fair share ``units · w ÷ Σ w`` comes first in the order;
    fewer units than members are left, and are dealt by a heap of keys.
    """
    if len(set(weights)) == 1:
        return even_quota(units, len(weights))
    total = sum(weights)
    least = [units * weight // total for weight in weights]
    heap = [(*_key(held, weights[c]), c) for c, held in enumerate(least)]
    heapq.heapify(heap)
    last: tuple[Fraction, int] | None = None
    for _ in range(units - sum(least)):
        share, weight, c = heap[0]
        last = share, weight
        least[c] += 1
        heapq.heapreplace(heap, (*_key(least[c], weights[c]), c))
    return _ties_opened(least, weights, last)


def _key(held: int, weight: int) -> tuple[Fraction, int]:
    """Return the key of one unit more than ``held``."""
    return Fraction(held + 1, weight), -weight


def _ties_opened(
    given: list[int], weights: tuple[int, ...], last: tuple[Fraction, int] | None
) -> Quota:
    """Open the limits of those who got, or could as well have got, the last key."""
    keys = [
        (_key(held - 1, weight), _key(held, weight))
        for held, weight in zip(given, weights, strict=True)
    ]
    got = [here == last for here, _ in keys]
    lost = [after == last for _, after in keys]
    if not any(lost):
        return Quota(tuple(given), tuple(given), 0)
    least = tuple(n - g for n, g in zip(given, got, strict=True))
    most = tuple(n + o for n, o in zip(given, lost, strict=True))
    return Quota(least, most, sum(got))
