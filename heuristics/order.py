"""Orders in which Kafka's Java assignors process members and topics.

Both compare text with ``String.compareTo``: by UTF-16 unit. Python compares by code
point, and the two differ where a character above U+FFFF meets one from U+E000 to
U+FFFF, so an instance's own order is not always Java's.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rebalance import NOBODY, Instance, Int32, Int64


def text_order(names: Sequence[str]) -> Int64:
    """Sort names as Java does.

    Parameters
    ----------
    names : sequence of str, (N,)
        Sorted by code point, as an instance's topics and members are.

    Returns
    -------
    int64 (N,)
        Positions in ``names``, least name first.
    """
    if "".join(names).isascii():
        return np.arange(len(names), dtype=np.int64)
    ranked = sorted(range(len(names)), key=lambda i: _units(names[i]))
    return np.array(ranked, dtype=np.int64)


def member_order(instance: Instance) -> Int64:
    """Sort members as ``AbstractPartitionAssignor.MemberInfo`` (Kafka 2.4 to 4.x).

    Static members first, by instance id (KIP-345); then the others, by member id. Of
    two members with one instance id, which no coordinator admits, the smaller member id
    comes first; upstream does not define this case.

    Returns
    -------
    int64 (M,)
        Member indices.
    """
    ids = instance.instance_ids
    if ids.count(None) == len(ids):
        return text_order(instance.members)

    def rank(m: int) -> tuple[bool, bytes, bytes]:
        instance_id = ids[m]
        is_dynamic = instance_id is None
        return is_dynamic, _units(instance_id or ""), _units(instance.members[m])

    return np.array(sorted(range(len(ids)), key=rank), dtype=np.int64)


def places_of(order: Int64, members: Int32) -> Int32:
    """Return the places of members in an order; `NOBODY` stays `NOBODY`."""
    place = np.empty(order.size, dtype=np.int32)
    place[order] = np.arange(order.size, dtype=np.int32)
    return looked_up(place, members)


def looked_up(table: Int32, keys: Int32) -> Int32:
    """Return the entry of each key; `NOBODY` stays `NOBODY`."""
    found = np.full_like(keys, NOBODY)
    known = keys != NOBODY
    found[known] = table[keys[known]]
    return found


def _units(name: str) -> bytes:
    return name.encode("utf-16-be")
