"""Judged cases as rows, whether they are gathered in batches or not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from pipeline.cases import Case
from pipeline.judging.judge_rows import judge_rows
from pipeline.judging.judged_batch import Result
from pipeline.judging.settings import Settings
from pipeline.rows import case_row


def judge_case_rows(
    case: Case, settings: Settings
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Judge one case."""
    return rows_of(judge_rows([case_row(case)], settings))


def rows_of(results: Iterable[Result]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the rows of results one by one."""
    for name, found in results:
        rows = found.to_pylist() if isinstance(found, pa.RecordBatch) else [found]
        for row in rows:
            yield name, row
