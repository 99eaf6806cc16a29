"""Set partition over enumerated subsets, compared with brute force.

Reaches into `solver.peak_lag` to compare the least peak of a group with brute force.
"""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from solver import Limits
from solver.peak_lag import set_partition, solve
from solver.peak_lag.feasible_region import peak_lag_of
from solver.peak_lag.set_partition import partition_exactly
from solver.peak_lag.work import Work
from solver.policy import parse_policy
from tests.references.brute import Brute
from tests.solver.peak_lag.settings import lag_instances, lagging
from tests.solver.peak_lag.test_answers import check
from tests.solver.peak_lag.test_local_search import check_allowed
from tests.solver.routes import instance
from tests.support.examples import costly
from tests.support.shapes import Document, member, rebalance
from tests.support.strategies import TINY
from verify import TooLarge


def uniform(partitions: int, members: int, capacities: tuple[int, ...]) -> Document:
    """Return one homogeneous group with uniform lags on two topics."""
    rng = Random(partitions)  # noqa: S311
    half = partitions // 2
    topics = {
        name: {"partitions": half, "lag": [rng.randrange(100_001) for _ in range(half)]}
        for name in "tu"
    }
    group = {f"m{i}": member(["t", "u"]) for i in range(members)}
    for i, participant in enumerate(group.values()):
        participant["capacity"] = capacities[i % len(capacities)]
    return rebalance(topics, group)


@costly()
@example(seed=619)  # a member without partitions, after all are assigned
@given(seed=st.integers(0, 10**6))
def test_the_least_peak_is_that_of_brute_force(seed: int) -> None:
    document = lagging(seed, TINY)
    try:
        brute = Brute(document)
    except TooLarge:
        return
    for lag_instance, balance in zip(
        lag_instances(document), ("dec-min", "per-topic", "none"), strict=False
    ):
        region = lag_instance.region
        if not region.lag.size:
            continue
        (best,) = brute.best(f"{balance}; peak-lag") or [0]
        assert isinstance(best, int)
        above = best + 1 + seed % 7
        holder, bound = partition_exactly(region, 0, above, Work(limits=Limits()))
        assert bound == best
        assert holder is not None
        check_allowed(lag_instance, holder)
        assert peak_lag_of(region, holder) == best
        none, bound = partition_exactly(region, 0, best, Work(limits=Limits()))
        assert none is None
        assert bound == best


@pytest.mark.parametrize("balance", ["none", "per-topic", "dec-min"])
@pytest.mark.parametrize(
    ("partitions", "members", "capacities"),
    [
        (30, 6, (1,)),
        (60, 10, (1,)),
        pytest.param(24, 5, (1, 2), marks=pytest.mark.heavy),
    ],
)
def test_uniform_lags_are_proved(
    balance: str, partitions: int, members: int, capacities: tuple[int, ...]
) -> None:
    """The mean is out of reach, or hard to reach; no bound by terms proves this."""
    document = uniform(partitions, members, capacities)
    policy = f"{balance}; peak-lag"
    found = solve(instance(document), parse_policy(policy), limits=Limits(effort=8))
    (objective,) = found.objectives
    check(document, policy, [objective.value])


def test_too_many_subsets_prove_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    (_, _, lag_instance) = lag_instances(uniform(12, 3, (1,)))
    region, bound = lag_instance.region, int(lag_instance.region.lag.sum())
    for limit in ("_SUBSETS_MAX", "_HALF_MAX"):
        with monkeypatch.context() as patch:
            patch.setattr(set_partition, limit, 1)
            work = Work(limits=Limits())
            found = partition_exactly(region, bound, 2 * bound, work)
            assert found == (None, bound)
