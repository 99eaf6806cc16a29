"""Eligible members per topic, and the size of their columns.

Reaches into `heuristics` to compare its tables with the subscriptions themselves.
"""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from heuristics import ASSIGNORS
from heuristics.eligible_members import EligibleMembers, eligible_members_of
from heuristics.group_columns import GroupColumns, columns_of
from rebalance import Instance
from tests.heuristics.routes import instance
from tests.support.shapes import member, rebalance, shape


def listed(instance_: Instance, eligible: EligibleMembers) -> dict[str, list[str]]:
    return {
        topic: [
            instance_.members[m]
            for m in eligible.order[
                eligible.places[eligible.first[t] : eligible.last[t]]
            ]
        ]
        for t, topic in enumerate(instance_.topics)
    }


def natural(instance_: Instance) -> EligibleMembers:
    return eligible_members_of(GroupColumns(*columns_of(instance_)))


def test_takers_are_the_subscribers_in_the_order_given() -> None:
    laid_out = instance(shape("EQUAL_LEVEL_BLOCKS"))
    backwards = np.arange(len(laid_out.members), dtype=np.int64)[::-1].copy()
    group = GroupColumns(*columns_of(laid_out, backwards))
    expected = {"t": ["a", "b", "d"], "u": ["c", "d", "e"], "v": ["e"]}
    assert listed(laid_out, natural(laid_out)) == expected
    assert listed(laid_out, eligible_members_of(group)) == {
        topic: subscribers[::-1] for topic, subscribers in expected.items()
    }


def test_equal_subscriptions_take_one_entry_a_member() -> None:
    wanted = [f"t{i}" for i in range(50)]
    members = {f"m{i}": member(wanted) for i in range(7)} | {"idle": member([])}
    laid_out = instance(rebalance(dict.fromkeys(wanted, 1), members))
    assert natural(laid_out).places.size == 8


def with_unused_class(laid_out: Instance) -> Instance:
    """Let a first class want the first topic, and no member be of it."""
    columns = {f.name: getattr(laid_out, f.name) for f in fields(Instance) if f.init}
    first = np.zeros(1, dtype=np.int32)
    return Instance(
        **columns
        | {
            "member_class": laid_out.member_class + np.int32(1),
            "class_offsets": np.r_[0, laid_out.class_offsets + 1],
            "class_topics": np.r_[first, laid_out.class_topics],
        }
    )


def test_a_class_without_members_changes_nothing() -> None:
    for name in ("LAG", "ONLY_MISSING_TOPICS_MEMBER"):
        laid_out = instance(shape(name))
        padded = with_unused_class(laid_out)
        assert listed(padded, natural(padded)) == listed(laid_out, natural(laid_out))
        for assignor in ASSIGNORS.values():
            assert assignor.refuses(padded) == assignor.refuses(laid_out)
            if assignor.refuses(padded) is None:
                same = assignor.assign(padded).assignee, assignor.assign(laid_out)
                assert same[0].tolist() == same[1].assignee.tolist()
