"""``solve``: the best assignment of each rebalance, with its proof."""

from __future__ import annotations

from oracle.cli.input.small_input import interpret_if_small
from oracle.cli.options.solve import SolveOptions


def solve(options: SolveOptions) -> None:
    """Find the best assignment of each rebalance, and prove it.

    Writes one assignment/1 document per rebalance: status, figures, and each objective
    with its bound and the proof of the bound.

    A policy is a balance (dec-min, kip54, per-topic, spread=k, none), objectives in
    order (stickiness, peak-lag, topic-peak-lag, lag-spread, lag-deviation, rack,
    per-topic-spread, load; a sum is 2*stickiness + rack), and an optional max-moves=k.

    A limit, or Ctrl-C, ends a search with the best assignment found, status feasible.
    Without a time limit, a fixed effort does, so that equal input gives equal output.
    Exit code 1 if an answer is infeasible or unknown.

    Example: assignor-oracle solve --policy lag-sticky --time-limit 10 FILE

    Example: assignor-oracle solve --from out/audit --group orders --generation 41
    """
    interpret_if_small(options.file, allowed=options.allowed)
    from oracle.cli.runs.solve import solve_all

    solve_all(options)
