"""Capacities whose least common multiple is too large, or makes values too large.

Reaches into `solver.objectives` for the limit on a common capacity.
"""

from __future__ import annotations

import pytest

from rebalance import InstanceError
from solver import Status, common_capacity, parse_policy, solve
from solver.objectives import COMMON_CAPACITY_BITS
from tests.solver.routes import instance
from tests.support.shapes import Document, member, rebalance

SCALED = (
    "fairest-sticky",
    "none; load",
    "none; peak-lag",
    "none; lag-spread",
    "none; per-topic-spread",
    "per-topic; topic-peak-lag",
    "spread=1; stickiness",
)
"""Policies whose values or balance are in units of 1 ÷ common capacity."""


def with_capacities(count: int) -> Document:
    """Return members whose capacities are consecutive numbers below 2^62."""
    members = {f"m{k:05}": member(["t"], capacity=2**62 - 1 - k) for k in range(count)}
    return rebalance({"t": {"partitions": 2, "lag": [1, 2]}}, members)


@pytest.mark.parametrize("policy", SCALED)
def test_bug_common_capacity_of_thousands_of_digits(policy: str) -> None:
    """Its conversion to text was a traceback, which ended the whole batch."""
    with pytest.raises(InstanceError, match="least common multiple") as caught:
        solve(instance(with_capacities(260)), parse_policy(policy))
    assert caught.value.subject == "g"


def test_policies_that_do_not_need_the_common_capacity_are_solved() -> None:
    laid_out = instance(with_capacities(260))
    for policy in ("sticky", "none; stickiness", "fair", "dec-min; rack"):
        assert solve(laid_out, parse_policy(policy)).status is Status.OPTIMAL, policy


def test_values_beyond_64_bits_are_rejected_in_a_short_message() -> None:
    laid_out = instance(with_capacities(30))
    assert common_capacity(laid_out).bit_length() < COMMON_CAPACITY_BITS
    with pytest.raises(InstanceError, match=r"past 2\^63 - 1") as caught:
        solve(laid_out, parse_policy("none; peak-lag"))
    assert len(str(caught.value)) < 200


def test_bug_scale_beyond_64_bits_without_any_lag() -> None:
    """The values are 0, but the scale could not be written as JSON."""
    document = with_capacities(30)
    document["topics"]["t"]["lag"] = [0, 0]
    with pytest.raises(InstanceError, match=r"past 2\^63 - 1"):
        solve(instance(document), parse_policy("none; peak-lag"))


def test_work_is_bounded_for_many_capacities() -> None:
    with pytest.raises(InstanceError, match="least common multiple"):
        common_capacity(instance(with_capacities(20_000)))
