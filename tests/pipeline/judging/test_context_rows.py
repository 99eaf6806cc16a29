"""Rebalances that are not judged state the same as judged ones.

Reaches into `pipeline.judging` to compare rows before they become tables.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from pipeline.audit.stages import reconstruct_batches
from pipeline.evaluation import selection
from pipeline.judging.context_rows import CONTEXT_OF, CONTEXT_SCHEMAS
from pipeline.judging.judge_rows import judge_rows
from pipeline.judging.settings import Settings
from pipeline.rows import (
    CASE,
    CASES,
    CONTEXT_CASE,
    CONTEXT_CASES,
    ROWS,
)
from tests.pipeline.cluster_facts import usual_settings
from tests.pipeline.local_reading import read_path
from tests.pipeline.recorded import FIRST_LOOK, facts_of, in_order

Row = dict[str, Any]
CONTEXT = {CASE: CONTEXT_CASE, CASES: CONTEXT_CASES}


def tables_of(rows: Iterable[Row], settings: Settings) -> dict[str, list[Row]]:
    """Judge rows; return those of the tables that the context has columns of."""
    found: dict[str, list[Row]] = {name: [] for name in CONTEXT_SCHEMAS}
    for name, result in judge_rows(rows, settings):
        for context, of in CONTEXT_OF.items():
            if name in (context, of) and isinstance(result, pa.RecordBatch):
                columns = CONTEXT_SCHEMAS[context].names
                found[context] += result.select(columns).to_pylist()
    return {
        name: sorted(rows, key=lambda row: (row["rebalance_id"], str(row)))
        for name, rows in found.items()
    }


def test_a_recording_as_context_has_the_columns_of_its_tables() -> None:
    """Classic groups, and groups of the new protocol with ids of topics."""
    read = pa.RecordBatch.from_pylist(in_order(read_path(FIRST_LOOK)), ROWS)
    for are_single in (False, True):
        rows = [
            row
            for batch in reconstruct_batches(iter([read]), are_single=are_single)
            for row in batch.to_pylist()
        ]
        optimum = usual_settings(facts_of(rows), assignors=selection(["optimum"]))
        cases = [row for row in rows if row["what"] in CONTEXT]
        context = [row | {"what": CONTEXT[row["what"]]} for row in cases]
        judged, others = tables_of(cases, optimum), tables_of(context, optimum)
        assert len(judged["context_rebalances"]) > 30
        protocols = {row["protocol"] for row in judged["context_rebalances"]}
        assert protocols == {"classic", "consumer"}
        assert others == judged
