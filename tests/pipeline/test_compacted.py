"""Compaction leaves gaps: each missing generation is reported, none is made up."""

from __future__ import annotations

from collections import defaultdict

import pytest

from pipeline.cases import CLAIMS
from pipeline.records import GroupMetadata, decode_record
from pipeline.rows import MISSING, Row
from tests.pipeline.local_reading import cases_of
from tests.pipeline.recorded import churn_records, churn_rows, reconstructed


def compacted(records: list[Row], *, keeps: int) -> list[Row]:
    """Keep the last records of each key, as the log cleaner does with closed segments.

    It keeps one; a log whose newest segments are not cleaned yet has more.
    """
    by_key: dict[tuple[int, bytes], list[Row]] = defaultdict(list)
    for row in records:
        by_key[row["source_partition"], row["key"]].append(row)
    return [row for rows in by_key.values() for row in rows[-keeps:]]


def generations(records: list[Row]) -> dict[str, set[int]]:
    """Return the numbers that the records of classic groups have."""
    found: dict[str, set[int]] = defaultdict(set)
    for row in records:
        record = decode_record(row["key"], row["value"])
        if isinstance(record, GroupMetadata):
            found[record.group_id].add(record.generation)
    return found


def missing(rows: list[Row]) -> dict[str, list[int]]:
    """Return the generations that are reported as missing."""
    found: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        if row["what"] == MISSING and row["record"] == "generation":
            numbers = [int(word) for word in row["value"].split() if word.isdigit()]
            first, last = numbers[0], numbers[-1]
            assert row["records"] == last - first + 1
            found[row["group_id"]] += range(first, last + 1)
    return found


@pytest.mark.heavy
@pytest.mark.parametrize("keeps", [1, 2, 5, 1000])
def test_what_compaction_removed_is_reported(keeps: int) -> None:
    """Of the recording; with 1000 nothing is removed, and 19 were never completed."""
    records = compacted(list(churn_records()), keeps=keeps)
    rows = reconstructed(records)
    known, reported = generations(records), missing(rows)
    for group_id, numbers in known.items():
        whole = range(1, max(numbers) + 1)
        gone = sorted(set(whole) - numbers)
        if group_id in ("next-range", "next-uniform"):
            continue
        assert reported[group_id] == gone, group_id
    for case in cases_of(rows):
        if case.protocol == "classic":
            number = case.generation or 0
            assert number in known[case.group_id]
            if number - 1 in reported[case.group_id]:
                assert (case.owned_from, case.left) == (CLAIMS, None)
    if keeps == 1000:
        assert sum(map(len, reported.values())) == 19
        assert rows == list(churn_rows())
