"""Loads the packages and the compiled kernels that Spark's workers share.

Nothing here may start a thread, which a fork does not copy.
"""

from __future__ import annotations

import importlib
from typing import Final

from pipeline.audit.spared_pandas import spare_pandas_of_arrow
from pipeline.cases import CLAIMS, Case, CaseMember
from pipeline.evaluation import selection
from pipeline.history.whole_groups import histories_of_groups
from pipeline.judging.instances import ClusterFacts
from pipeline.judging.judge_rows import judge_rows
from pipeline.judging.settings import Settings
from pipeline.rows import OFFSETS, batches_of, case_row, record_row
from rebalance import ClaimRule

_CASE: Final = Case(
    rebalance_id="0/0",
    group_id="g",
    source_kind=OFFSETS,
    source="daemon",
    owned_from=CLAIMS,
    members={
        "m": CaseMember(
            subscription=["t"], owned={"t": [0]}, assigned={"t": [0]}, generation=1
        )
    },
)


def load_all() -> None:
    """Load the packages and kernels of all stages."""
    spare_pandas_of_arrow()
    importlib.import_module("pyspark.worker")  # a worker imports it after the fork
    load_histories()
    load_judge()


def load_judge() -> list[str]:
    """Judge a small rebalance; return the tables that its rows are of."""
    settings = Settings(
        cluster="daemon",
        facts=ClusterFacts(),
        claim_rule=ClaimRule.NEWEST_CLAIM,
        assignors=selection(["optimum"]),
        are_optima_judged=True,
    )
    return [table for table, _ in judge_rows([case_row(_CASE)], settings)]


def load_histories() -> list[str]:
    """Read a committed offset; return the kinds of rows that it yields."""
    key = b"\0\1\0\1g\0\1t\0\0\0\0"  # group g, topic t, partition 0
    value = b"\0\0" + bytes(8) + b"\0\0" + bytes(8)
    place = {"source_partition": 0, "source_offset": 0, "at": 0}
    row = record_row("daemon", place, key=key, value=value) | {"group_id": "g"}
    return [found["what"] for found in histories_of_groups(batches_of([row]))]
