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
from pipeline.judging.instances import ClusterFacts
from pipeline.judging.judge_rows import judge_rows
from pipeline.judging.partition_counts import CountSources
from pipeline.judging.settings import Settings
from pipeline.known_counts import known_counts
from pipeline.rows import (
    CASE,
    CASES,
    CONTEXT_CASE,
    CONTEXT_CASES,
    ROWS,
    TOPIC,
    TOPIC_ID,
    sighting_of,
)
from pipeline.topic_names import names_of_ids
from rebalance import ClaimRule
from tests.pipeline.local_reading import read_path
from tests.pipeline.recorded import FIRST_LOOK, in_order

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
        stated = (
            (row["key"], row["record"]) for row in rows if row["what"] == TOPIC_ID
        )
        names = names_of_ids(stated)
        seen = [sighting_of(row) for row in rows if row["what"] == TOPIC]
        settings = Settings(
            cluster="c",
            facts=ClusterFacts(
                counts=CountSources(shown=known_counts(seen, names)), names=names
            ),
            claim_rule=ClaimRule.NEWEST_CLAIM,
            assignors=selection(["optimum"]),
        )
        cases = [row for row in rows if row["what"] in CONTEXT]
        context = [row | {"what": CONTEXT[row["what"]]} for row in cases]
        judged, others = tables_of(cases, settings), tables_of(context, settings)
        assert len(judged["context_rebalances"]) > 30
        protocols = {row["protocol"] for row in judged["context_rebalances"]}
        assert protocols == {"classic", "consumer"}
        assert others == judged
