"""Columns of an instance as the kernels of the assignors take them.

Plain tuples of arrays: reading a named tuple takes numba as long as a small rebalance.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from heuristics.order import text_order
from rebalance import Instance, Int32, Int64, kernel

Columns: TypeAlias = tuple[Int64, Int32, Int64, Int32, Int64, Int64]
"""The fields of `GroupColumns`."""


class GroupColumns(NamedTuple):
    """Topics and subscriptions as in `rebalance.Instance`, and two orders.

    Attributes
    ----------
    topic_offsets : int64 (T + 1,)
    member_class : int32 (M,)
    class_offsets : int64 (K + 1,)
    class_topics : int32
    topics : int64 (T,)
        Topics by name (`heuristics.order.text_order`).
    members : int64 (M,)
        Members in the assignor's order.
    """

    topic_offsets: Int64
    member_class: Int32
    class_offsets: Int64
    class_topics: Int32
    topics: Int64
    members: Int64


def columns_of(instance: Instance, members: Int64 | None = None) -> Columns:
    """Return the columns of a group; members in the given order, else by member id."""
    return (
        instance.topic_offsets,
        instance.member_class,
        instance.class_offsets,
        instance.class_topics,
        text_order(instance.topics),
        text_order(instance.members) if members is None else members,
    )


@kernel
def is_mixed(member_class: Int32) -> bool:
    """Return whether subscriptions are heterogeneous."""
    return bool((member_class != member_class[:1]).any())


@kernel
def common_topics(group: GroupColumns) -> Int64:
    """Return the topics of the first member by name; all have them where equal."""
    listed = np.zeros(group.topics.size, dtype=np.bool_)
    k = group.member_class[0]
    listed[group.class_topics[group.class_offsets[k] : group.class_offsets[k + 1]]] = (
        True
    )
    return group.topics[listed[group.topics]]
