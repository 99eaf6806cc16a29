"""What dec-min counts: partitions over capacity, as exact fractions, one by one.

The n-th partition of a member of capacity w has the *key* (n ÷ w, larger capacity
first), written as the pair (n, w). Two pairs that differ are never equal, and a group
as even as it can be takes partitions on in this order: where the n-th of one and the
m-th of another bring both to the same fraction, the larger capacity came from closer
below.

Put as a cost: let a load of n cost B to the power of the rank of n ÷ w among all
fractions, B larger than the number of members. The sum over members is least exactly
where the list of fractions, largest first, is lexicographically least; and the n-th
partition of a member adds the more, the larger its key. Without capacities all w are 1
and the key is n.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from verify.case import Case

Key = tuple[int, int]


def is_weighted(case: Case) -> bool:
    """Tell whether capacities matter: two that can be given something differ."""
    return len({case.capacity[name] for name in case.in_play}) > 1


def ranks(keys: Iterable[Key]) -> dict[Key, int]:
    """Return the place of each key in their order, from 1."""
    ordered = sorted(set(keys), key=lambda key: (Fraction(*key), -key[1]))
    return {key: rank for rank, key in enumerate(ordered, start=1)}


def limits(capacity: int, threshold: Key) -> tuple[int, int]:
    """Count a member's keys below a threshold, and those not above it."""
    number, over = threshold
    before = (number * capacity - 1) // over
    upto = number * capacity // over
    return (
        upto if capacity > over else before,
        upto if capacity >= over else before,
    )


def ends(case: Case, loads: Mapping[str, int]) -> tuple[dict[str, int], dict[str, int]]:
    """Rank what each member took last, 0 for nothing, and what it would take next."""
    if not is_weighted(case):
        return dict(loads), {name: load + 1 for name, load in loads.items()}
    keys = {
        name: ((load, case.capacity[name]), (load + 1, case.capacity[name]))
        for name, load in loads.items()
    }
    rank = ranks(key for pair in keys.values() for key in pair if key[0])
    last = {name: rank.get(pair[0], 0) for name, pair in keys.items()}
    return last, {name: rank[pair[1]] for name, pair in keys.items()}
