"""Compare histories of whole groups with those of single records."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator

import pyarrow as pa

from pipeline.case_table import case_at
from pipeline.cases import Case, pack, unpack
from pipeline.history.stream import histories
from pipeline.history.whole_groups import histories_of_groups
from pipeline.rows import CASE, CASES, ROWS, Row
from pipeline.table_bytes import from_bytes

SIZES = (0, 1, 1, 2, 3, 9, 40, 200, 4_000)


def divided(rows: list[Row], rng: random.Random) -> Iterator[pa.RecordBatch]:
    """Divide rows into batches of random sizes, some of them empty."""
    table = pa.RecordBatch.from_pylist(rows, ROWS)
    at, most = 0, rng.choice(SIZES[3:])
    while at < len(rows):
        size = min(rng.choice(SIZES), most)
        yield table.slice(at, size)
        at += size


def check(rows: list[Row], rng: random.Random) -> Counter[str]:
    """Check that both ways of reading sorted rows find the same.

    Returns
    -------
    Counter of str
        Kinds of rows that are found, and "whole": the cases of whole groups.
    """
    found = list(histories_of_groups(divided(rows, rng)))
    expected = list(histories(rows))
    assert _cases(found) == _cases(expected)
    assert _others(found) == _others(expected)
    counts = Counter(row["what"] for row in expected)
    counts["whole"] = sum(row["records"] for row in found if row["what"] == CASES)
    return counts


def _cases(rows: Iterable[Row]) -> list[Case]:
    found: list[Case] = []
    for row in rows:
        if row["what"] == CASE:
            found.append(unpack(row["value"]))
        elif row["what"] == CASES:
            table = from_bytes(row["value"])
            assert len(table) == row["records"]
            found += [case_at(table, place) for place in range(len(table))]
    return sorted(
        found, key=lambda case: (case.group_id, case.rebalance_id, pack(case))
    )


def _others(rows: Iterable[Row]) -> Counter[str]:
    return Counter(
        repr(sorted((name, value) for name, value in row.items() if value is not None))
        for row in rows
        if row["what"] not in (CASE, CASES)
    )
