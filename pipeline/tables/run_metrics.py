"""Schema of the table that describes the run itself: its input and its duration.

It is the only table that depends on the clock, on the machine, and on the division of
the work. Its one row agrees with ``audit.json``.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from pipeline.tables.shared_columns import CLUSTER, COUNT, TEXT, TIME, column

RUN_TABLE: Final = "run"
COUNTS: Final = pa.map_(TEXT, pa.int64())

RUN: Final = pa.schema(
    [
        CLUSTER,
        column("date", TEXT, "day of `started`, UTC"),
        column("started", TIME, "when the audit began"),
        column("finished", TIME, "when the other tables were complete"),
        column(
            "rows_read",
            COUNT,
            "records, documents, and states of groups in the sources, with those that"
            " are repeated and those that are in quarantine",
        ),
        column(
            "rows_repeated",
            COUNT,
            "of those, records that were delivered again: same partition, offset, key,"
            " and value; each counts once",
        ),
        column("rows_judged", COUNT, "rows of `answers` and `snapshots`"),
        column("rows_quarantined", COUNT, "sum of `records` in `quarantine`"),
        column("quarantined", COUNTS, "of those, per kind and reason"),
        column("rows", COUNTS, "rows per table"),
        column(
            "durations_unknown",
            COUNTS,
            "durations in `rebalances` and `episodes` that are not known, per reason",
        ),
        column(
            "seconds",
            pa.map_(TEXT, pa.float64()),
            "per stage: find the sources, start Spark, read and reconstruct, judge,"
            " write",
        ),
        column("tasks", pa.int32(), "tasks of the stage that judges"),
        column(
            "cores",
            pa.int32(),
            "cores of Spark's executors at the end, or `spark.default.parallelism`",
        ),
        column("master", TEXT, "Spark's master"),
        column("versions", pa.map_(TEXT, TEXT), "as in `audit.json`"),
    ]
)
