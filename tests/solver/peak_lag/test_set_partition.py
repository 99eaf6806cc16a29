"""Set partition over enumerated subsets, compared with brute force.

Reaches into `solver.peak_lag` to compare the least peak of a group with brute force.
"""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from solver import Limits
from solver.peak_lag.feasible_region import peak_lag_of
from solver.peak_lag.set_partition import partition_exactly
from solver.peak_lag.work import Work
from tests.references.brute import Brute
from tests.solver.peak_lag.settings import lag_instances, lagging
from tests.solver.peak_lag.test_local_search import check_allowed
from tests.support.examples import costly
from tests.support.strategies import TINY
from verify import TooLarge


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
