"""Judged rows on their way to the tables: runs of rows per table, as bytes.

Spark writes them to files of the unfinished audit as opaque values, a few per part. No
row of a table passes through Java; the counts of an audit are next to the values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.judging.context_rows import CONTEXT_SCHEMAS
from pipeline.records.place import UNKNOWN_DURATIONS
from pipeline.table_bytes import as_bytes, from_bytes
from pipeline.tables import SCHEMAS

Batches = Iterator[pa.RecordBatch]

Judged: TypeAlias = tuple[str, Mapping[str, Any] | pa.RecordBatch]
"""Name of a table, and a row of it, or rows in its schema."""

PART: Final = "part"
"""Column with the number of the part of the work that a row belongs to."""

_RUNS: Final = SCHEMAS | CONTEXT_SCHEMAS

JUDGED: Final = pa.schema(
    [
        (PART, pa.int32()),
        *((f"{name}_rows", pa.int64()) for name in _RUNS),
        *((f"{name}_bytes", pa.int64()) for name in _RUNS),
        *((name, pa.binary()) for name in _RUNS),
        *((reason, pa.int64()) for reason in UNKNOWN_DURATIONS),
    ]
)
"""Rows and bytes per table, and the rows as bytes (`pipeline.table_bytes`).

Then, the number of durations that are not known, per reason.
"""

MOST_ROWS: Final = 500
"""Rows that are held as objects of Python until they become an Arrow batch."""
MOST_BYTES: Final = 8 << 20
"""Bound on the bytes of one row of `JUDGED`, before compression."""

_DOCUMENTS: Final = ("instance", "assignment", "value")
_DURATIONS: Final = {
    "rebalances": ("reached_unknown", "lasted_unknown"),
    "episodes": ("unowned_unknown",),
}


def judged_batches(part: int, found: Iterable[Judged]) -> Batches:
    """Yield the rows of the tables as batches of `JUDGED`."""
    gathered: dict[str, list[pa.RecordBatch]] = {}
    size = 0
    for name, batch in _as_batches(found):
        gathered.setdefault(name, []).append(batch)
        size += batch.nbytes
        if size >= MOST_BYTES:
            yield _runs(part, gathered)
            gathered, size = {}, 0
    if gathered:
        yield _runs(part, gathered)


def _as_batches(found: Iterable[Judged]) -> Iterator[tuple[str, pa.RecordBatch]]:
    rows: dict[str, list[Mapping[str, Any]]] = {}
    count = size = 0
    for name, item in found:
        if isinstance(item, pa.RecordBatch):
            yield name, item
            continue
        rows.setdefault(name, []).append(item)
        count += 1
        size += sum(len(item.get(column) or "") for column in _DOCUMENTS)
        if count >= MOST_ROWS or size >= MOST_BYTES:
            yield from _converted(rows)
            rows, count, size = {}, 0, 0
    yield from _converted(rows)


def _converted(
    rows: Mapping[str, list[Mapping[str, Any]]],
) -> Iterator[tuple[str, pa.RecordBatch]]:
    for name, found in rows.items():
        yield name, pa.RecordBatch.from_pylist(found, schema=_RUNS[name])


def _runs(part: int, gathered: Mapping[str, list[pa.RecordBatch]]) -> pa.RecordBatch:
    row: dict[str, Any] = {PART: part, **dict.fromkeys(UNKNOWN_DURATIONS, 0)}
    for name, batches in gathered.items():
        run = pa.Table.from_batches(batches, _RUNS[name]).combine_chunks()
        row |= {
            name: as_bytes(run, "lz4"),
            f"{name}_rows": run.num_rows,
            f"{name}_bytes": run.nbytes,
        }
        for column in _DURATIONS.get(name, ()):
            counted = Counter(run[column].to_pylist())
            for reason in UNKNOWN_DURATIONS:
                row[reason] += counted[reason]
    return pa.RecordBatch.from_pylist([row], schema=JUDGED)


def count_quarantine(runs: Iterable[pa.Table]) -> dict[str, int]:
    """Count the records of rows of quarantine per reason, most frequent first."""
    counts = Counter[str]()
    for run in runs:
        kinds = run.group_by(["kind", "reason"]).aggregate([("records", "sum")])
        for row in kinds.to_pylist():
            counts[f"{row['kind']}: {row['reason']}"] += row["records_sum"]
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


class JudgedRuns:
    """The judged parts of an audit, in files of this machine; rows as in `JUDGED`."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = paths

    def parts(self) -> set[int]:
        """Return the numbers of the parts."""
        return {part for column in self._columns(PART) for part in column.to_pylist()}

    def of(self, name: str, columns: Sequence[str] = ()) -> Iterator[pa.Table]:
        """Read the runs of a table, one after the other; by default, all columns."""
        fields = [_RUNS[name].get_field_index(column) for column in columns]
        for path in self._paths:
            with pq.ParquetFile(path, memory_map=True) as file:
                for batch in file.iter_batches(1, columns=[name]):
                    if (data := batch.column(0)[0].as_buffer()) is not None:
                        yield from_bytes(data, fields)

    def bytes_of(self, name: str) -> int:
        """Return the bytes of all runs of a table."""
        return self._sum(f"{name}_bytes")

    def count_rows(self) -> dict[str, int]:
        """Count the rows of each table."""
        return {name: self._sum(f"{name}_rows") for name in SCHEMAS}

    def count_unknown_durations(self) -> dict[str, int]:
        """Count the durations that are not known, per reason that occurs."""
        counts = {reason: self._sum(reason) for reason in UNKNOWN_DURATIONS}
        return {reason: count for reason, count in counts.items() if count}

    def count_quarantine(self) -> dict[str, int]:
        """Count the records per reason, most frequent first."""
        return count_quarantine(self.of("quarantine"))

    def _sum(self, column: str) -> int:
        return sum(pc.sum(values).as_py() or 0 for values in self._columns(column))

    def _columns(self, name: str) -> Iterator[pa.ChunkedArray]:
        for path in self._paths:
            with pq.ParquetFile(path) as file:
                yield file.read([name])[name]
