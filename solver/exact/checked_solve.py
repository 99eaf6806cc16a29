"""Exact solve of ``sticky`` from columns to a checked certificate, in one kernel.

The same steps as `solver.exact.solve_sticky` takes one by one, without a Python object
between them: other kernels can solve many small instances in a loop.
"""

from __future__ import annotations

import numpy as np

from rebalance import Int32, Int64, kernel
from solver.exact.certificate import (
    LoadBounds,
    StickyColumns,
    check_columns,
    shift_prices,
)
from solver.exact.dec_min_levels import dec_min_levels
from solver.exact.equal_subscriptions import assign_equal
from solver.exact.materialize import materialize
from solver.exact.reduced_instance import (
    OUTSIDE,
    by_member,
    owned_counts,
    reduce_columns,
)
from solver.exact.stickiest import stickiest


@kernel
def solve_columns(
    topic_offsets: Int64,
    member_class: Int32,
    class_offsets: Int64,
    class_topics: Int32,
    owner: Int32,
) -> tuple[Int32, Int32, Int32, bool, int, int]:
    """Solve an instance whose members in play have equal capacities, and check it.

    The columns are those of an `Instance`; members without topics and topics without
    partitions or members are ordinary input.

    Returns
    -------
    assignee : int32 (P,)
        Member of each partition; -1: none.
    level : int32 (M,)
    price : int32 (M,)
        The certificate.
    balanced : bool
    kept : int
    most_kept : int
        The check of the certificate (`CertificateCheck`): optimal if balanced, and
        ``kept`` equals ``most_kept``.
    """
    columns = StickyColumns(
        topic_offsets, member_class, class_offsets, class_topics, owner
    )
    reduced = reduce_columns(topic_offsets, member_class, class_offsets, class_topics)
    if reduced.class_size.size <= 1:
        return _checked(columns, *assign_equal(owner, topic_offsets, reduced))
    n_members = member_class.size
    owned = owned_counts(owner, topic_offsets, reduced.topics, n_members)
    levels = dec_min_levels(reduced, owned, np.zeros(0, np.int64))
    plan = stickiest(reduced, owned, levels)
    assignee = materialize(owner, topic_offsets, reduced, owned, plan)
    level = by_member(reduced, levels.low, 0)
    price = shift_prices(plan.price, by_member(reduced, levels.place, OUTSIDE))
    return _checked(columns, assignee, level, price)


@kernel
def solve_one_class(
    topic_offsets: Int64,
    member_class: Int32,
    class_offsets: Int64,
    class_topics: Int32,
    owner: Int32,
) -> tuple[Int32, Int32, Int32, bool, int, int]:
    """Do so where at most one class is in play: a process loads a third of the code."""
    columns = StickyColumns(
        topic_offsets, member_class, class_offsets, class_topics, owner
    )
    reduced = reduce_columns(topic_offsets, member_class, class_offsets, class_topics)
    return _checked(columns, *assign_equal(owner, topic_offsets, reduced))


@kernel
def _checked(
    columns: StickyColumns, assignee: Int32, level: Int32, price: Int32
) -> tuple[Int32, Int32, Int32, bool, int, int]:
    """Return an assignment with its certificate, and the bounds that this proves."""
    bounds = LoadBounds(level, level, level + np.int32(1), True)
    balanced, kept, most_kept = check_columns(columns, assignee, bounds, price)
    return assignee, level, price, balanced, kept, most_kept
