"""Figures of an assignment, counted exactly, in integers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from operator import eq
from typing import TypeVar

from verify.case import Case
from verify.columns import Columns

T = TypeVar("T")


def loads_of(case: Case, columns: Columns) -> dict[str, int]:
    """Return how many partitions each member holds."""
    loads = Counter(chain.from_iterable(held.members for held in columns.values()))
    return {name: loads[name] for name in case.wants}


def count_kept(case: Case, columns: Columns) -> int:
    """Count the owned partitions that stay with their owner."""
    return sum(
        sum(map(eq, held.members, _of_each(case.owners[topic], held.numbers)))
        for topic, held in columns.items()
    )


def kip54_score(loads: Mapping[str, int]) -> int:
    """Compute Kafka's balance score: the sum over pairs of the difference in load.

    With loads in order, smallest first, the i-th of n (from 0) is the larger one in
    i pairs and the smaller one in n - 1 - i.
    """
    below = 1 - len(loads)
    return sum(
        load * (below + 2 * rank) for rank, load in enumerate(sorted(loads.values()))
    )


def lags_of(case: Case, columns: Columns) -> dict[str, int]:
    """Return the total lag of each member, records; an unstated lag counts 0."""
    total = dict.fromkeys(case.wants, 0)
    for topic, listed in case.lag.items():
        held = columns[topic]
        lags = _of_each(listed, held.numbers)
        for member, lag in zip(held.members, lags, strict=True):
            total[member] += lag
    return total


def rack_mismatches(case: Case, columns: Columns) -> int:
    """Count partitions whose holder's rack has no replica of them (KIP-881)."""
    return sum(
        is_far(case, member, listed[number])
        for topic, listed in case.replica_racks.items()
        for number, member in zip(*columns[topic], strict=True)
    )


def _of_each(values: Sequence[T], numbers: Sequence[int]) -> Sequence[T]:
    """Select from values by partition those of some numbers; mostly, of all."""
    return values if numbers == range(len(values)) else [values[n] for n in numbers]


def is_far(case: Case, member: str, racks: Collection[str]) -> bool:
    """Return whether a member's rack is none of some; no rack or racks: it is not."""
    rack = case.member_rack.get(member)
    return bool(racks) and rack is not None and rack not in racks
