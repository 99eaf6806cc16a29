"""Judge cases: from rows of the sources to rows of the tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import pyarrow as pa

from pipeline.case_table import case_table
from pipeline.judging.evaluated import EvaluatedCodes
from pipeline.judging.judged_batch import Result, judge_together
from pipeline.judging.quarantine_rows import quarantined
from pipeline.judging.settings import Settings
from pipeline.sources.rows import CASE, CASES, Row
from pipeline.table_bytes import from_bytes

CASES_PER_BATCH: Final = 1024
BYTES_PER_BATCH: Final = 4 << 20
"""Bytes of the cases that are gathered for one batch, about."""


def judge_rows(
    rows: Iterable[Row], settings: Settings, known: EvaluatedCodes | None = None
) -> Iterator[Result]:
    """Judge cases, and pass on rows of quarantine."""
    known = known or EvaluatedCodes(claim_rule=settings.claim_rule)
    batches = {CASE: _Batch(), CASES: _Batch()}
    for row in rows:
        batch = batches.get(row["what"])
        if batch is None:
            yield "quarantine", quarantined(row, settings.cluster)
            continue
        batch.add(row)
        if batch.is_full():
            yield from judge_together(batch.table(), settings, known)
            batches[row["what"]] = _Batch()
    for batch in batches.values():
        if batch.rows:
            yield from judge_together(batch.table(), settings, known)


class _Batch:
    """Rows of cases that are judged together: all of them texts, or all tables."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._cases = self._size = 0

    def add(self, row: Row) -> None:
        """Add the cases of a row."""
        self.rows.append(row)
        self._cases += row.get("records") or 1
        self._size += len(row["value"])

    def is_full(self) -> bool:
        """Return whether there are enough cases, or bytes."""
        return self._cases >= CASES_PER_BATCH or self._size >= BYTES_PER_BATCH

    def table(self) -> pa.Table:
        """Return the cases as `pipeline.case_table.CASES`."""
        values = [row["value"] for row in self.rows]
        if self.rows[0]["what"] == CASE:
            return case_table(values)
        return pa.concat_tables(map(from_bytes, values)).combine_chunks()
