"""Rows of a table in their order, from the judged runs; the causes are added here."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pyarrow as pa

from pipeline.audit.cause_column import runs_of, with_causes
from pipeline.audit.judged import JudgedRuns
from pipeline.audit.sorting import in_order
from pipeline.tables import ORDER, PARTITION_COLUMNS, SCHEMAS


def table_rows(judged: JudgedRuns, name: str) -> Iterator[pa.Table]:
    """Yield the rows of a table in their order, as they are written."""
    keys, size = (*PARTITION_COLUMNS, *ORDER[name]), judged.bytes_of(name)
    rows = in_order(partial(judged.of, name), SCHEMAS[name], keys, size)
    return with_causes(rows, runs_of(judged)) if name == "rebalances" else rows
