"""Judged cases as rows, whether they are gathered in batches or not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from pipeline.cases import Case
from pipeline.judging.judge_rows import judge_rows
from pipeline.judging.judged_batch import Result
from pipeline.judging.settings import Settings
from pipeline.rows import case_row
from rebalance import rebalance_of, to_json
from tests.pipeline.groups import commit, group, member, replay


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


def document_case(document: Mapping[str, Any]) -> Case:
    """Return the case of a rebalance/1 document."""
    text = to_json(rebalance_of(dict(document))).decode()
    return Case(
        rebalance_id="r",
        group_id="g",
        source_kind="rebalance",
        source="s",
        document=text,
    )


def only_case(*committed: tuple[str, int, int]) -> Case:
    """Return the case of a group with one member, after commits."""
    records = [commit(*entry) for entry in committed]
    (case,) = replay(*records, group(1, member("a", ["t", "u", "gone"], {"t": [0]})))
    return case
