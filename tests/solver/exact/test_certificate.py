"""The certificate: what it proves, and that a wrong one proves nothing.

Reaches into `verify` to compare keys with the judge's.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import verify
from rebalance import Assignment, Int64, members_of
from solver import Certificate, solve
from solver.exact import prove
from tests.references import naive_judge as naive
from tests.solver.routes import instance
from tests.support.shapes import Document, member, rebalance, shape
from tests.support.strategies import TINY, rebalances
from verify.keys import count_keys as limits

HUGE = 2**63 - 1


def certificate(
    level: list[int], price: list[int], threshold: Int64 | None = None
) -> Certificate:
    return Certificate(
        level=np.array(level, dtype=np.int32),
        price=np.array(price, dtype=np.int32),
        threshold=threshold,
    )


def assignment(assignee: list[int]) -> Assignment:
    return Assignment(assignee=np.array(assignee, dtype=np.int32))


def test_chain_as_it_stands_is_not_proved_balanced() -> None:
    laid_out = instance(shape("CHAIN"))
    as_it_stands = Assignment(assignee=laid_out.owner.copy())
    proof = prove(laid_out, as_it_stands, solve(laid_out).require_certificate())
    assert not proof.balanced
    assert not proof.holds
    assert proof.kept == 4


def test_balanced_but_less_sticky_is_distinguished() -> None:
    """t of two partitions, a and b own one each: swapping them keeps nothing."""
    people = {m: member(["t"], {"t": [n]}) for n, m in enumerate("ab")}
    document = rebalance({"t": 2}, people)
    laid_out = instance(document)
    swapped = prove(laid_out, assignment([1, 0]), certificate([1, 1], [0, 0]))
    assert (swapped.balanced, swapped.kept, swapped.most_kept) == (True, 0, 2)
    assert not swapped.holds
    stayed = prove(laid_out, assignment([0, 1]), certificate([1, 1], [0, 0]))
    assert stayed.holds


@pytest.mark.parametrize(
    ("assignee", "level"),
    [
        ([0, 0], [1, 0]),  # one too many on the first, level too high
        ([0, -1], [0, 0]),  # one with nobody
        ([0, 0], [0, 0]),  # two on a member of level 0
    ],
)
def test_unbalanced_is_never_proved(assignee: list[int], level: list[int]) -> None:
    laid_out = instance(rebalance({"t": 2}, {m: member(["t"]) for m in "ab"}))
    proof = prove(laid_out, assignment(assignee), certificate(level, [0, 0]))
    assert not proof.balanced


def test_partition_with_a_stranger_is_never_proved() -> None:
    """b does not want t: its level fits, its load fits, its claim is no proof."""
    document = rebalance({"t": 1}, {"a": member(["t"]), "b": member([])})
    laid_out = instance(document)
    right = prove(laid_out, assignment([0]), certificate([0, 0], [0, 0]))
    wrong = prove(laid_out, assignment([1]), certificate([0, 0], [0, 0]))
    assert right.holds
    assert not wrong.balanced


@given(st.data(), rebalances(TINY))
def test_no_certificate_proves_a_value_that_enumeration_refutes(
    data: st.DataObject, document: Document
) -> None:
    """Soundness: any assignment, any integers; what is proved is the best there is."""
    laid_out = instance(document)
    members = range(-1, len(laid_out.members))
    takers = st.sampled_from(members)
    drawn = [data.draw(takers) for _ in range(laid_out.n_partitions)]
    small = st.integers(-2, 3)
    level = [data.draw(st.integers(0, 3)) for _ in laid_out.members]
    price = [data.draw(small) for _ in laid_out.members]
    threshold = None
    if laid_out.capacity is not None:
        key = st.tuples(st.integers(1, 3), st.sampled_from([1, 2, 3, HUGE]))
        keys = data.draw(st.lists(key, min_size=1, max_size=2))
        drawn_keys = [data.draw(st.sampled_from(keys)) for _ in laid_out.members]
        pairs = list(zip(drawn_keys, laid_out.capacity.tolist(), strict=True))
        level = [limits(w, key)[0] for key, w in pairs]
        threshold = np.array(drawn_keys, dtype=np.int64).reshape(-1, 2)
    proposed = certificate(level, price, threshold)
    proof = prove(laid_out, assignment(drawn), proposed)
    best = verify.best(document, lag=False)
    answer = {"members": members_of(laid_out, assignment(drawn))}
    if proof.balanced:
        assert naive.is_dec_min(document, answer, best)
        assert proof.most_kept >= best["kept"]
    if proof.holds:
        assert proof.kept == best["kept"]


@given(rebalances(TINY))
def test_prices_start_at_zero_in_every_level(document: Document) -> None:
    laid_out = instance(document)
    proved = solve(laid_out).require_certificate()
    level = proved.level.tolist()
    if proved.threshold is not None:
        level = [tuple(key) for key in proved.threshold.tolist()]
    for value in set(level):
        prices = proved.price[[n == value for n in level]]
        assert prices.min() == 0


def test_columns_are_read_only() -> None:
    answer = solve(instance(shape("CHAIN")))
    with pytest.raises(ValueError, match="read-only"):
        answer.require_certificate().price[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        answer.require_assignment().assignee[0] = 1
