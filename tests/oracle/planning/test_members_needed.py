"""The smallest number of members, compared with an enumeration of assignments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from oracle.planning import Limited, MembersNeeded, members_needed
from rebalance import Assignment, Instance, SearchProof
from solver import Policy, Result, Status
from tests.oracle.planning.questions import group, question
from tests.references.brute import best_values
from tests.support.shapes import Document, member, rebalance

MOST = 5  # partitions, and so members that can be of use


def of_lags(lags: list[int], members: int) -> Document:
    topic = {"partitions": len(lags), "lag": lags}
    return rebalance({"t": topic}, {f"m{n}": member(["t"]) for n in range(members)})


def assignments(partitions: int, members: int) -> Iterator[list[list[int]]]:
    """Yield all assignments to members that are all eligible."""
    for holders in product(range(members), repeat=partitions):
        yield [
            [p for p, holder in enumerate(holders) if holder == m]
            for m in range(members)
        ]


def suffices(lags: list[int], members: int, at_most: int, *, even: bool) -> bool:
    """Try every assignment; ``even``: only those whose loads differ by at most 1."""
    return any(
        max(sum(lags[p] for p in held) for held in assignment) <= at_most
        for assignment in assignments(len(lags), members)
        if not even or max(map(len, assignment)) - min(map(len, assignment)) <= 1
    )


def needed(
    document: Document,
    limited: Limited,
    at_most: int,
    policy: str = "sticky",
    subscription: list[str] | None = None,
) -> MembersNeeded:
    found = members_needed(
        group(document),
        limited,
        at_most,
        question(policy, effort=2.0),
        subscription=subscription,
    )
    _refutes_all_smaller(found)
    return found


def _refutes_all_smaller(found: MembersNeeded) -> None:
    """Every smaller number that is examined is refuted by a bound above the limit."""
    refuted = [
        number
        for refutation in found.refuted
        for number in range(
            refutation.members, (refutation.up_to or refutation.members) + 1
        )
    ]
    assert all(refutation.bound > found.at_most for refutation in found.refuted)
    assert refuted == sorted(set(refuted))
    if found.status == "optimal":
        assert found.members is not None
        assert refuted == list(range(found.members - len(refuted), found.members))


@pytest.mark.heavy
@pytest.mark.parametrize("balance", ["none", "dec-min"])
@example([900, 500, 400, 300, 200], 3, 950)
@example([4, 4, 4], 1, 8)
@example([0, 0], 2, 0)
@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=MOST),
    st.integers(1, 4),
    st.integers(0, 30),
)
def test_peak_lag_agrees_with_enumeration(
    balance: str, lags: list[int], present: int, at_most: int
) -> None:
    found = needed(of_lags(lags, present), "peak-lag", at_most, f"{balance}; peak-lag")
    even = balance == "dec-min"
    enough = [n for n in range(1, MOST + 1) if suffices(lags, n, at_most, even=even)]
    if not enough:
        assert (found.status, found.members) == ("infeasible", None)
        return
    assert (found.status, found.members) == ("optimal", enough[0])
    assert found.value is not None
    assert found.value <= at_most
    assert len(found.joins) == max(0, enough[0] - present)
    assert len(found.leaves) == max(0, present - enough[0])
    smaller = range(1, enough[0])
    assert len([*smaller]) == sum(
        (refutation.up_to or refutation.members) - refutation.members + 1
        for refutation in found.refuted
    )


@pytest.mark.heavy
@given(
    st.lists(st.sets(st.sampled_from("tuv"), min_size=1), min_size=1, max_size=3),
    st.sets(st.sampled_from("tuv"), min_size=1),
    st.integers(0, 5),
)
def test_load_agrees_with_enumeration(
    subscriptions: list[set[str]], joining: set[str], at_most: int
) -> None:
    served = set().union(*subscriptions)
    sizes = dict.fromkeys(sorted(served), 2)
    members = {
        f"m{n}": member(sorted(subscription))
        for n, subscription in enumerate(subscriptions)
    }
    wanted = sorted(joining & served)
    if not wanted:
        return
    found = needed(rebalance(sizes, members), "load", at_most, subscription=wanted)
    is_equal = len({frozenset(subscription) for subscription in subscriptions}) == 1
    first = 1 if is_equal else len(subscriptions)
    enough = [
        n
        for n in range(first, len(subscriptions) + 7)
        if _fits(
            sizes,
            [*subscriptions[:n], *[set(wanted)] * (n - len(subscriptions))],
            at_most,
        )
    ]
    if enough:
        assert (found.status, found.members) == ("optimal", enough[0])
    else:
        assert found.status == "infeasible"


def _fits(sizes: dict[str, int], subscriptions: list[set[str]], at_most: int) -> bool:
    """Return whether all partitions fit, by Hall's condition over sets of topics."""
    topics = sorted(sizes)
    for chosen in product([False, True], repeat=len(topics)):
        subset = {t for t, taken in zip(topics, chosen, strict=True) if taken}
        room = at_most * sum(
            bool(subscription & subset) for subscription in subscriptions
        )
        if sum(sizes[t] for t in subset) > room:
            return False
    return True


def test_a_balance_that_no_further_member_helps_is_infeasible() -> None:
    """Two of the partitions of u are with the lag of 6, or with each other."""
    document = rebalance(
        {
            "t": {"partitions": 1, "lag": [6]},
            "u": {"partitions": 4, "lag": [6, 1, 1, 1]},
        },
        {"a": member(["t", "u"]), "b": member(["t", "u"])},
    )
    found = needed(document, "peak-lag", 6, "dec-min; peak-lag", subscription=["t"])
    assert (found.status, found.members) == ("infeasible", None)
    assert found.reason == (
        "4 members do not suffice, and further ones would have no partitions"
    )
    found = needed(document, "peak-lag", 7, "dec-min; peak-lag", subscription=["t"])
    assert (found.status, found.members) == ("optimal", 3)


@pytest.mark.heavy
@pytest.mark.parametrize("balance", ["none", "dec-min", "per-topic", "kip54"])
@example([{"t"}, {"t", "u"}], {"t"}, [1, 1, 100], 100)
@given(
    st.lists(st.sets(st.sampled_from("tu"), min_size=1), min_size=1, max_size=2),
    st.sets(st.sampled_from("tu"), min_size=1),
    st.lists(st.integers(0, 9), min_size=3, max_size=3),
    st.integers(0, 20),
)
def test_peak_lag_of_other_subscriptions_agrees_with_enumeration(
    balance: str,
    subscriptions: list[set[str]],
    joining: set[str],
    lags: list[int],
    at_most: int,
) -> None:
    served = set().union(*subscriptions)
    wanted = sorted(joining & served)
    if not wanted:
        return
    topics = {"t": lags[:1], "u": lags[1:]}
    sizes = {t: {"partitions": len(topics[t]), "lag": topics[t]} for t in served}
    members = {
        f"m{n}": member(sorted(subscription))
        for n, subscription in enumerate(subscriptions)
    }
    policy = f"{balance}; peak-lag"
    found = needed(
        rebalance(sizes, members), "peak-lag", at_most, policy, subscription=wanted
    )
    is_common = len({frozenset(subscription) for subscription in subscriptions}) == 1
    present = sorted(members.items())
    for count in range(1 if is_common else len(members), len(members) + 6):
        joins = {f"n{n}": member(wanted) for n in range(count - len(members))}
        value = best_values(
            rebalance(sizes, dict(present[:count]) | joins), f"{balance}; peak-lag"
        )
        assert value is not None
        (peak,) = value
        assert isinstance(peak, int)
        if peak <= at_most:
            assert (found.status, found.members) == ("optimal", count)
            return
    assert (found.status, found.members) == ("infeasible", None)


def test_what_is_not_decided_is_not_called_proved() -> None:
    """A search that ends early for two members refutes nothing."""
    asking = question("none; peak-lag")

    def ends_early(instance: Instance, policy: Policy) -> Result:
        result = asking.solve_one(instance, policy)
        if len(instance.members) != 2:
            return result
        everything = Assignment(assignee=np.zeros(3, dtype=np.int32))
        (peak,) = result.objectives
        weak = replace(peak, value=11, bound=6, proof=SearchProof(engine="tired"))
        return replace(
            result, status=Status.FEASIBLE, assignment=everything, objectives=(weak,)
        )

    early = replace(asking, solve_one=ends_early)
    found = members_needed(group(of_lags([5, 5, 1], 1)), "peak-lag", 6, early)
    assert (found.status, found.members, found.at_least) == ("feasible", 3, 2)
    assert [refutation.rests_on for refutation in found.refuted] == ["sum"]
    assert needed(of_lags([5, 5, 1], 1), "peak-lag", 6, "none; peak-lag").members == 2
