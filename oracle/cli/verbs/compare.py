"""``compare``: run every published assignor and compare it with the optimum."""

from __future__ import annotations

from oracle.cli.input.small_input import OF_ALL_ASSIGNORS, interpret_if_small
from oracle.cli.options.compare import CompareOptions


def compare(options: CompareOptions) -> None:
    """Run every published assignor on each rebalance and compare it with the optimum.

    Prints one table per rebalance and a summary on a terminal; otherwise writes one
    line of JSON per rebalance. The judge counts all figures. With --from, `actual` is
    the assignment by the group's leader, or by the coordinator.

    Example: assignor-oracle compare rebalances.jsonl

    Example: assignor-oracle compare --from out/audit --group orders --generation 41
    """
    interpret_if_small(options.file, OF_ALL_ASSIGNORS)
    from oracle.cli.runs.compare import compare_all

    compare_all(options)
