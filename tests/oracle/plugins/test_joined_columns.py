"""Columns from joined members, and bytes from columns, against documents."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from oracle.plugins import Joining, Mode, rebalance_of
from oracle.plugins.joined_columns import instance_of_joined
from rebalance import (
    Assignment,
    WireError,
    encode_assignments,
    instance_of,
    members_of,
)
from rebalance.protocol import (
    MemberAssignment,
    StickyUserData,
    Subscription,
    encode_assignment,
    encode_sticky_user_data,
)
from tests.support.same_columns import same_columns

TOPICS = st.sampled_from(["é", "t", "u", "gone"])
PARTITIONS = st.lists(
    st.tuples(TOPICS, st.lists(st.integers(-2, 5), max_size=4).map(tuple)), max_size=4
).map(tuple)
USER_DATA = st.one_of(
    st.none(),
    st.just(b""),
    st.just(b"\x00\x00"),
    st.builds(
        lambda partitions, generation: encode_sticky_user_data(
            StickyUserData(version=1, partitions=partitions, generation=generation)
        ),
        PARTITIONS,
        st.integers(-1, 3),
    ),
)
SUBSCRIPTIONS = st.builds(
    Subscription,
    version=st.integers(0, 3),
    topics=st.lists(TOPICS, max_size=4).map(tuple),
    user_data=USER_DATA,
    owned=PARTITIONS,
    generation=st.integers(-1, 3),
)
JOINED = st.lists(
    st.builds(
        Joining,
        member_id=st.sampled_from(["a", "b", "c", "ü"]),
        subscription=SUBSCRIPTIONS,
        instance_id=st.sampled_from([None, "s"]),
    ),
    max_size=4,
)
COUNTS = st.dictionaries(st.sampled_from(["é", "t", "u"]), st.integers(0, 4))


@pytest.mark.parametrize("mode", Mode)
@example(joined=[], counts={})
@given(joined=JOINED, counts=COUNTS)
def test_columns_are_those_of_the_document(
    mode: Mode, joined: list[Joining], counts: dict[str, int]
) -> None:
    found = instance_of_joined(joined, counts, mode=mode)
    expected = instance_of(rebalance_of(joined, counts, mode=mode))
    assert same_columns(found, expected)


@example(joined=[], counts={}, seed=0)
@given(joined=JOINED, counts=COUNTS, seed=st.integers(0, 2**32 - 1))
def test_bytes_are_those_of_the_members(
    joined: list[Joining], counts: dict[str, int], seed: int
) -> None:
    instance = instance_of_joined(joined, counts, mode=Mode.EAGER)
    assignee = np.random.default_rng(seed).integers(
        -1, len(instance.members), instance.n_partitions
    )
    assignment = Assignment(assignee=assignee.astype(np.int32))
    assert encode_assignments(instance, assignment) == {
        member: encode_assignment(
            MemberAssignment(
                version=0,
                partitions=tuple((t, tuple(numbers)) for t, numbers in held.items()),
            )
        )
        for member, held in members_of(instance, assignment).items()
    }


def test_large_numbers_and_long_names_keep_their_bytes() -> None:
    name = "n" * 300
    one = Joining(member_id="a", subscription=Subscription(version=0, topics=(name,)))
    instance = instance_of_joined([one], {name: 70_000}, mode=Mode.EAGER)
    assignment = Assignment(assignee=np.zeros(70_000, dtype=np.int32))
    partitions = ((name, tuple(range(70_000))),)
    expected = encode_assignment(MemberAssignment(version=0, partitions=partitions))
    assert encode_assignments(instance, assignment) == {"a": expected}


def test_a_name_that_has_no_form_is_refused() -> None:
    name = "n" * 2**15
    one = Joining(member_id="a", subscription=Subscription(version=0, topics=(name,)))
    instance = instance_of_joined([one], {name: 1}, mode=Mode.EAGER)
    assignment = Assignment(assignee=np.zeros(1, dtype=np.int32))
    with pytest.raises(WireError, match="32768 bytes, 32767 at most"):
        encode_assignments(instance, assignment)
