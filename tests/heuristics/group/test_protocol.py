"""Selection of assignor and protocol: the vote and the two choices.

Reaches into `heuristics.group` to write messages of its own.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heuristics.group import (
    Coordinator,
    GroupError,
    RebalanceProtocol,
    Refusal,
    selected,
    static_protocol,
)
from heuristics.group.messages import JoinMetadata
from tests.heuristics.group.fleets import COOPERATIVE_STICKY, RANGE, wanting

LISTS = st.lists(
    st.lists(st.sampled_from("abcd"), unique=True, min_size=1), min_size=1, max_size=6
)


def test_a_tied_vote_goes_to_the_least_name() -> None:
    assert selected([["b", "a"], ["a", "b"]]) == "a"


@given(LISTS)
def test_no_other_common_assignor_has_more_votes(lists: list[list[str]]) -> None:
    common = set.intersection(*map(set, lists))
    if not common:
        with pytest.raises(GroupError, match="in common"):
            selected(lists)
        return
    first = [next(name for name in names if name in common) for names in lists]
    assert first.count(selected(lists)) == max(first.count(name) for name in common)


def test_one_eager_assignor_makes_a_static_member_eager() -> None:
    eager, cooperative = RebalanceProtocol.EAGER, RebalanceProtocol.COOPERATIVE
    assert static_protocol([COOPERATIVE_STICKY]) is cooperative
    assert static_protocol([COOPERATIVE_STICKY, RANGE]) is eager
    assert static_protocol([RANGE, COOPERATIVE_STICKY]) is eager


def test_a_list_that_is_empty_or_names_one_twice_is_refused() -> None:
    with pytest.raises(GroupError, match="no assignor"):
        wanting()
    with pytest.raises(GroupError, match="twice"):
        wanting(RANGE, RANGE)


def test_a_member_without_a_common_assignor_is_not_admitted() -> None:
    coordinator = Coordinator()
    old = JoinMetadata(topics=frozenset("t"), strategies=("range",))
    new = JoinMetadata(topics=frozenset("t"), strategies=("cooperative-sticky",))
    assert coordinator.enter("a", old) is None
    assert coordinator.enter("b", new) is Refusal.INCONSISTENT_GROUP_PROTOCOL
    assert coordinator.members == ("a",)
