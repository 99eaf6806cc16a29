"""Keys: the order in which dec-min counts partitions of members of any capacity.

The n-th partition of a member of capacity w has the *key* (n, w), ordered by the
fraction n / w, larger capacities first; without capacities the key is n. Distinct keys
are never equal; a dec-min assignment holds the least keys (docs/method.md, Capacities).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from verify.case import Case

Key = tuple[int, int]


def is_weighted(case: Case) -> bool:
    """Return whether capacities matter: two members in play differ in theirs."""
    return len(set(map(case.capacity.__getitem__, case.in_play))) > 1


def ranks(keys: Iterable[Key]) -> dict[Key, int]:
    """Return the place of each key in their order, from 1."""
    ordered = sorted(set(keys), key=lambda key: (Fraction(*key), -key[1]))
    return {key: rank for rank, key in enumerate(ordered, start=1)}


def count_keys(capacity: int, threshold: Key) -> tuple[int, int]:
    """Count a member's keys below a threshold, and those not above it."""
    number, over = threshold
    below = (number * capacity - 1) // over
    upto = number * capacity // over
    return (upto if capacity > over else below, upto if capacity >= over else below)


def end_keys(
    case: Case, loads: Mapping[str, int]
) -> tuple[Mapping[str, int], Mapping[str, int]]:
    """Rank the key of each member's last partition, 0 for none, and of its next."""
    if not is_weighted(case):
        return loads, {name: load + 1 for name, load in loads.items()}
    last = {name: (load, case.capacity[name]) for name, load in loads.items()}
    following = {name: (load + 1, w) for name, (load, w) in last.items()}
    rank = ranks(key for key in (*last.values(), *following.values()) if key[0])
    return (
        {name: rank.get(key, 0) for name, key in last.items()},
        {name: rank[key] for name, key in following.items()},
    )
