"""What lies above thresholds: never more than is so, and all of it with many moves."""

from __future__ import annotations

from dataclasses import replace

from solver.exact import solve as solve_core
from solver.limits import Limits
from solver.pareto.counts import counts_of
from solver.pareto.excess import excess_of
from tests import strategies
from tests.solver.routes import instance
from tests.strategies import seeded_rebalance

WIDE = strategies.Limits(members=5, topics=4, partitions=3)


def test_with_all_moves_the_dec_min_loads_tell_the_excess() -> None:
    """Loads that are dec-min have the least excess above every threshold at once."""
    for seed in range(200):
        group = instance(seeded_rebalance(seed, WIDE))
        counts = counts_of(group)
        excess = excess_of(counts, Limits())
        balanced = solve_core(replace(group, capacity=None)).require_assignment()
        loads = balanced.loads(group).tolist()
        least = [
            sum(max(0, load - threshold) for load in loads)
            for threshold in range(excess.top + 1)
        ]
        assert excess.at(counts.owned) == least, seed
