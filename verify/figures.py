"""Figures of an assignment, counted exactly, in integers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import repeat
from operator import eq, mul
from typing import TypeVar

from verify.case import Case
from verify.columns import Columns

T = TypeVar("T")


def loads_of(case: Case, columns: Columns) -> dict[str, int]:
    """Return how many partitions each member holds."""
    loads = Counter(columns.members)
    return {name: loads[name] for name in case.wants}


def count_kept(case: Case, columns: Columns) -> int:
    """Count the owned partitions that stay with their owner."""
    return sum(map(eq, columns.members, of_held(case.all_owners, columns)))


def kip54_score(loads: Mapping[str, int]) -> int:
    """Compute Kafka's balance score: the sum over pairs of the difference in load.

    With loads in order, smallest first, the i-th of n (from 0) is the larger one in
    i pairs and the smaller one in n - 1 - i.
    """
    count = len(loads)
    return sum(map(mul, sorted(loads.values()), range(1 - count, count, 2)))


def lags_of(case: Case, columns: Columns) -> dict[str, int]:
    """Return the total lag of each member, records; an unstated lag counts 0."""
    total = dict.fromkeys(case.wants, 0)
    if case.lag:
        lags = of_held(case.all_lags, columns)
        for member, lag in zip(columns.members, lags, strict=True):
            total[member] += lag
    return total


def rack_mismatches(case: Case, columns: Columns) -> int:
    """Count partitions whose holder's rack has no replica of them (KIP-881)."""
    if not case.replica_racks:
        return 0
    racks = of_held(case.all_racks, columns)
    return sum(map(is_far, repeat(case), columns.members, racks))


def of_held(values: Sequence[T], columns: Columns) -> Sequence[T]:
    """Select the values of assigned partitions; mostly, these are all."""
    indices = columns.indices
    return values if indices == range(len(values)) else [values[n] for n in indices]


def is_far(case: Case, member: str, racks: Collection[str]) -> bool:
    """Return whether racks lack a member's rack; without rack or racks: false."""
    rack = case.member_rack.get(member)
    return bool(racks) and rack is not None and rack not in racks
