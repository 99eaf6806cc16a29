"""``front``: the Pareto frontier of moves against balance, or against peak lag."""

from __future__ import annotations

from oracle.cli.input.small_input import OF_ALL_ASSIGNORS, interpret_if_small
from oracle.cli.options.front import FrontOptions


def front(options: FrontOptions) -> None:
    """List every Pareto-optimal pair of moves and balance, or of moves and peak lag.

    Writes one front/1 document per rebalance: the points, each with its assignment and
    the proof of its bound. Without a time limit, the search has a fixed effort, so
    that equal input gives equal output. Where a limit or Ctrl-C ends the search, the
    document states the reason and a bound.

    Example: assignor-oracle front --objective peak-lag --picture front.png FILE
    """
    interpret_if_small(options.file, OF_ALL_ASSIGNORS, options.allowed)
    from oracle.cli.runs.front import front_all

    front_all(options)
