"""Per topic, every subscriber's count lies between two numbers (KIP-169).

Within one topic dec-min has a closed form: give the partitions out one by one, each to
the subscriber whose key (count after it ÷ capacity, larger capacity first) is least.
Keys differ between capacities, so only members of one capacity can tie for the last
partitions, and each assignment with these counts is as even as any other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor

from solver.milp.chains import key_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """How many partitions of a topic a member is given: ``low`` to ``high``."""

    topic: int
    member: int
    low: int
    high: int


def quotas_of(
    topic: int, takers: Sequence[int], capacity: Sequence[int], partitions: int
) -> Iterator[Quota]:
    """Yield the quota of each subscriber of a topic.

    All keys of ratio partitions ÷ total capacity or less are taken for sure: there are
    at most as many of them as partitions. The rest goes capacity by capacity.
    """
    size = Counter(capacity[c] for c in takers)
    ratio = Fraction(partitions, sum(w * n for w, n in size.items()))
    count = {w: floor(ratio * w) for w in size}
    left = partitions - sum(count[w] * n for w, n in size.items())
    tied = None
    while left:
        _, first = min((key_of(count[w] + 1, w), w) for w in size)
        if left < size[first]:
            tied = first
            break
        left -= size[first]
        count[first] += 1
    for member in takers:
        low = count[capacity[member]]
        high = low + (capacity[member] == tied)
        yield Quota(topic=topic, member=member, low=low, high=high)
