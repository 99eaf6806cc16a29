"""Orders in which Kafka's Java assignors process members and topics.

Both compare text with ``String.compareTo``: by UTF-16 unit. Python compares by code
point, and the two differ where a character above U+FFFF meets one from U+E000 to
U+FFFF, so an instance's own order is not always Java's.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from rebalance import NOBODY, Instance, Int32, Int64, kernel

_KEPT = 4
"""Orders that are kept: the assignors answer the same instance one after another."""


@lru_cache(maxsize=_KEPT)
def text_order(names: tuple[str, ...]) -> Int64:
    """Sort names as Java does.

    Parameters
    ----------
    names : tuple of str, (N,)
        Sorted by code point, as an instance's topics and members are.

    Returns
    -------
    int64 (N,), read-only
        Positions in ``names``, least name first.
    """
    if "".join(names).isascii():
        return _read_only(range(len(names)))
    return _read_only(sorted(range(len(names)), key=lambda i: _units(names[i])))


def member_order(instance: Instance) -> Int64:
    """Sort members as ``AbstractPartitionAssignor.MemberInfo`` (Kafka 2.4 to 4.x).

    Static members first, by instance id (KIP-345); then the others, by member id. Of
    two members with one instance id, which no coordinator admits, the smaller member id
    comes first; upstream does not define this case.

    Returns
    -------
    int64 (M,), read-only
        Member indices.
    """
    if instance.instance_ids.count(None) == len(instance.members):
        return text_order(instance.members)
    return _static_first(instance.members, instance.instance_ids)


@lru_cache(maxsize=_KEPT)
def _static_first(members: tuple[str, ...], ids: tuple[str | None, ...]) -> Int64:
    def rank(m: int) -> tuple[bool, bytes, bytes]:
        instance_id = ids[m]
        is_dynamic = instance_id is None
        return is_dynamic, _units(instance_id or ""), _units(members[m])

    return _read_only(sorted(range(len(ids)), key=rank))


def _read_only(order: Iterable[int]) -> Int64:
    column = np.array(order, dtype=np.int64)
    column.setflags(write=False)
    return column


@kernel
def places_of(order: Int64, members: Int32) -> Int32:
    """Return the places of members in an order; `NOBODY` stays `NOBODY`."""
    place = np.empty_like(order)
    for i in range(order.size):
        place[order[i]] = i
    return looked_up(place, members)


@kernel
def looked_up(table: Int64, keys: Int32) -> Int32:
    """Return the entry of each key; `NOBODY` stays `NOBODY`."""
    found = np.empty_like(keys)
    for i in range(keys.size):
        found[i] = NOBODY if keys[i] == NOBODY else table[keys[i]]
    return found


def _units(name: str) -> bytes:
    return name.encode("utf-16-be")
