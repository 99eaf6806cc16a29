"""``assign``: run a published assignor on each rebalance."""

from __future__ import annotations

from oracle.cli.options.assign import AssignOptions


def assign(options: AssignOptions) -> None:
    """Run a published assignor on each rebalance.

    Writes one assignment/1 document per rebalance. An assignor can refuse a rebalance
    to which it does not apply; this is reported, and the exit code is 2. With --errors,
    and - for standard input, it can be tested by `conform` and `fuzz`.

    Example: assignor-oracle assign --assignor range rebalances.jsonl
    """
    from oracle.cli.runs.assign import assign_all

    assign_all(options)
