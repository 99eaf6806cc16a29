"""Daemon of Spark's workers on this machine: it loads what they need, then forks them.

Workers of PySpark's own daemon have nothing in common: each imports the stages, and
loads the compiled judge. Nothing here may start a thread, which a fork does not copy.
"""

from __future__ import annotations

import gc

from pyspark.daemon import manager

from pipeline.evaluation import selection
from pipeline.judging.instances import World
from pipeline.judging.settings import Settings, judge_rows
from pipeline.sources.documents import read_document_lines
from pipeline.sources.lines import Line
from rebalance import ClaimRule

_REBALANCE = (
    b'{"format": "rebalance/1", "group": "g", "topics": {"t": {"partitions": 1}}, '
    b'"members": {"m": {"subscription": ["t"], "owned": {"t": [0]}}}}'
)


def load_judge() -> list[str]:
    """Judge a small rebalance; return the tables that its rows are of."""
    settings = Settings(
        cluster="daemon",
        world=World(),
        claim_rule=ClaimRule.NEWEST_CLAIM,
        assignors=selection(["optimum"]),
        are_optima_judged=True,
    )
    cases = read_document_lines([Line(number=1, text=_REBALANCE)], "daemon", 1)
    return [table for table, _ in judge_rows(cases, settings)]


if __name__ == "__main__":
    load_judge()
    gc.freeze()  # a worker looks for garbage after each task
    manager()
