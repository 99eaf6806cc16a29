"""Judge cases: from rows of the sources to rows of the tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import pyarrow as pa

from pipeline.case_table import case_table
from pipeline.judging.context_rows import context_rows
from pipeline.judging.evaluated import EvaluatedCodes
from pipeline.judging.judged_batch import Result, dated_part, judge_together
from pipeline.judging.quarantine_rows import quarantined
from pipeline.judging.settings import Settings
from pipeline.rows import CASE, CASES, CONTEXT_CASE, CONTEXT_CASES, Row
from pipeline.table_bytes import from_bytes

CASES_PER_BATCH: Final = 1024
_KINDS: Final = (CASE, CASES, CONTEXT_CASE, CONTEXT_CASES)
_TEXTS: Final = (CASE, CONTEXT_CASE)
BYTES_PER_BATCH: Final = 4 << 20
"""Bytes of the cases that are gathered for one batch, about."""


def judge_rows(
    rows: Iterable[Row], settings: Settings, known: EvaluatedCodes | None = None
) -> Iterator[Result]:
    """Judge cases, and pass on rows of quarantine, and cases that are not judged."""
    known = known or EvaluatedCodes(claim_rule=settings.claim_rule)
    batches = {kind: _Batch() for kind in _KINDS}
    for row in rows:
        batch = batches.get(row["what"])
        if batch is None:
            yield "quarantine", quarantined(row, settings.cluster)
            continue
        batch.add(row)
        if batch.is_full():
            yield from _results(row["what"], batch.table(), settings, known)
            batches[row["what"]] = _Batch()
    for kind, batch in batches.items():
        if batch.rows:
            yield from _results(kind, batch.table(), settings, known)


def _results(
    kind: str, table: pa.Table, settings: Settings, known: EvaluatedCodes
) -> Iterator[Result]:
    if kind in (CONTEXT_CASE, CONTEXT_CASES):
        return context_rows(dated_part(table), settings)
    return judge_together(table, settings, known)


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
        if self.rows[0]["what"] in _TEXTS:
            return case_table(values)
        return pa.concat_tables(map(from_bytes, values)).combine_chunks()
