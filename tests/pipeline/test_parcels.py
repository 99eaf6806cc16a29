"""Rows reach the task of their group, and are sorted there as all rows together are.

Reaches into ``pipeline.audit`` and ``pipeline.sources`` to compare packing, delivery,
and the sort in bounded memory with one sort of Python, with parcels of a few rows.
"""

from __future__ import annotations

from itertools import islice

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from pipeline import rows as rows_module
from pipeline.audit import sorting
from pipeline.audit.sorting import in_order_once
from pipeline.history.stream import ORDER
from pipeline.rows import ROWS, Row
from pipeline.sources import parcels
from pipeline.sources.parcels import delivered, parcels_of, unpacked
from tests.pipeline.recorded import in_order

BYTES = st.sampled_from([None, b"", b"a", b"\x7f", b"\x80", b"\xff" * 40])
NUMBERS = st.sampled_from([None, -1, 0, 7])
RECORDS = st.lists(
    st.fixed_dictionaries(
        {
            "what": st.just("record"),
            "group_id": st.sampled_from([None, "", "a", "b", "é", "😀", "\uffff"]),
            "source_partition": NUMBERS,
            "source_offset": NUMBERS,
            "key": BYTES,
            "value": BYTES,
            "source": st.sampled_from(["x", "y"]),
        }
    ),
    max_size=40,
)


def divided(rows: list[Row], sizes: list[int]) -> list[pa.RecordBatch]:
    """Return batches of so many rows, and one of the rest."""
    left = iter(rows)
    parts = [list(islice(left, size)) for size in sizes]
    return [pa.RecordBatch.from_pylist(part, ROWS) for part in [*parts, list(left)]]


@given(
    rows=RECORDS,
    sizes=st.lists(st.integers(0, 9), max_size=6),
    tasks=st.integers(1, 9),
    workers=st.integers(1, 3),
    held=st.sampled_from([1, 500, 1 << 20]),
    parcel=st.sampled_from([1, 200, 1 << 20]),
    range_bytes=st.sampled_from([300, 1000, 1 << 20]),
)
def test_delivery_and_sort_are_one_sort_however_rows_are_divided(
    rows: list[Row],
    sizes: list[int],
    tasks: int,
    workers: int,
    held: int,
    parcel: int,
    range_bytes: int,
) -> None:
    batches = divided(rows, sizes)
    received: list[list[Row]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows_module, "BYTES_PER_BATCH", held)
        patch.setattr(parcels, "PARCEL_BYTES", parcel)
        patch.setattr(sorting, "RANGE_BYTES", range_bytes)
        sent = [
            packed
            for worker in range(workers)
            for packed in parcels_of(batches[worker::workers], tasks)
        ]
        for task in range(tasks):
            found = [parcel for parcel in sent if parcel[0] == task]
            tables = in_order_once(unpacked(found), ROWS, ORDER)
            received.append([row for table in tables for row in table.to_pylist()])
    groups = [{row["group_id"] for row in task_rows} for task_rows in received]
    assert sum(map(len, groups)) == len({row["group_id"] for row in rows})
    empty: Row = dict.fromkeys(ROWS.names)
    for own, given_rows in zip(groups, received, strict=True):
        of_task = [empty | row for row in rows if row["group_id"] in own]
        assert given_rows == in_order(of_task)
    assert sum(map(len, received)) == len(rows)


def test_the_task_of_a_group_is_the_same_on_every_machine() -> None:
    names, tasks = [None, "", "a", "orders", "é"], 97
    batch = pa.RecordBatch.from_pylist([{"group_id": name} for name in names], ROWS)
    found = {
        row["group_id"]: parcel[0]
        for parcel in parcels_of([batch], tasks)
        for rows in unpacked([parcel])
        for row in rows.to_pylist()
    }
    assert found.keys() == set(names)
    # Of "a", CRC-32 is E8B7BE43; of no bytes, it is 0.
    assert (found["a"], found[""], found[None]) == (0xE8B7BE43 % tasks, 0, 0)


@pytest.mark.heavy
@pytest.mark.parametrize("tasks", [1, 2, 7, 200])
def test_spark_delivers_to_the_tasks(spark: SparkSession, tasks: int) -> None:
    parcels = [(task, b"%d" % number) for task in range(tasks) for number in (0, 1)]
    sent = spark.sparkContext.parallelize(parcels, 3)
    found = delivered(sent, tasks).glom().collect()
    for task, received in enumerate(found):
        assert sorted(received) == [(task, b"0"), (task, b"1")]
