"""Work in progress: cases and judged rows in files of the unfinished audit.

A file has the rows of one task, and is used only if the task has ended. A part of
judging has row groups of any of the files of cases: they are divided by their bytes, so
that the rebalances of one large group are in many parts.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import groupby, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Final, NamedTuple, Protocol, TypeAlias, TypedDict

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark import RDD, SparkContext, TaskContext

from pipeline.audit.judged import JUDGED, PART
from pipeline.audit.stages import COUNTS, OF_NIGHTS, SEEN, Seen, seen_by_tasks
from pipeline.files import is_local, local_path, name_of
from pipeline.rows import CASES as SEVERAL_CASES
from pipeline.rows import CONTEXT_CASES, ROWS
from pipeline.table_files import sizes_of
from pipeline.unfinished import Unfinished

Batches: TypeAlias = Iterator[pa.RecordBatch]
Judge: TypeAlias = Callable[[Batches], Batches]

CASES: Final = ROWS.append(pa.field(PART, pa.int32()))
"""Rows of the sources, each with the part that it belongs to."""

_SEVERAL: Final = (SEVERAL_CASES, CONTEXT_CASES)
CONTENTS: Final = "contents.json"
"""The files of complete cases, and the pieces of each part."""
_PIECE_ROWS: Final = 32
_PIECE_BYTES: Final = 64 << 10
"""Of a piece, which has one row more than so many bytes."""
_COMPRESSED: Final = pa.ipc.IpcWriteOptions(compression="lz4")


class StoredCases(Protocol):
    """Complete cases of an audit, in numbered parts."""

    def seen(self) -> Seen:
        """Return the facts and counts of the tasks that wrote them."""

    def parts(self) -> frozenset[int]:
        """Return the numbers of the parts that have anything to judge."""

    def judge(self, judge: Judge, parts: frozenset[int]) -> list[str]:
        """Judge some parts, as `pipeline.audit.judged.JUDGED`; return their files."""


def save_cases(
    spark: SparkContext, work: Unfinished, rows: RDD[pa.RecordBatch], parts: int
) -> StoredCases:
    """Write cases, and divide them into so many numbered parts at most."""
    target = work.new_cases()
    if not is_local(target):
        from pipeline.audit.remote_work import save_remote_cases  # noqa: PLC0415

        save_remote_cases(spark, target, rows, parts)
    else:
        folder = local_path(target)
        folder.mkdir(parents=True)
        pieces = rows.mapPartitions(partial(_written, folder)).collect()
        files = sorted({piece.file for piece in pieces})
        contents = _Contents(files=files, parts=_divided(pieces, parts))
        for path in folder.iterdir():  # of tasks that failed
            if path.name not in files:
                path.unlink()
        (folder / CONTENTS).write_bytes(orjson.dumps(contents))
    work.finish(name_of(target))
    cases = saved_cases(spark, work)
    assert cases is not None  # noqa: S101  # they are complete
    return cases


def saved_cases(spark: SparkContext, work: Unfinished) -> StoredCases | None:
    """Return the complete cases of an earlier run, if there are any."""
    location = work.cases()
    if location is None:
        return None
    if is_local(location):
        return _LocalCases(spark, work, local_path(location))
    from pipeline.audit.remote_work import RemoteCases  # noqa: PLC0415

    return RemoteCases(spark, work, location)


class _CaseBatch(NamedTuple):
    """A batch of a file of cases, and its bytes; 0: nothing in it is judged."""

    file: str
    number: int
    size: int


_Part: TypeAlias = list[tuple[str, int]]


class _Contents(TypedDict):
    files: list[str]
    parts: list[_Part]


class _LocalCases:
    """Cases in a folder that is at the same path on the machines of all tasks."""

    def __init__(self, spark: SparkContext, work: Unfinished, folder: Path) -> None:
        self._spark, self._work, self._folder = spark, work, folder

    def seen(self) -> Seen:
        """Return the facts and counts of the tasks that wrote them."""
        columns = [ROWS.get_field_index(name) for name in SEEN]
        options = pa.ipc.IpcReadOptions(included_fields=columns)

        def read() -> Iterator[pa.Table]:
            for name in self._contents()["files"]:
                with pa.memory_map(str(self._folder / name)) as file:
                    yield pa.ipc.open_file(file, options=options).read_all()

        return seen_by_tasks(read())

    def parts(self) -> frozenset[int]:
        """Return the numbers of the parts that have anything to judge."""
        return frozenset(range(len(self._contents()["parts"])))

    def judge(self, judge: Judge, parts: frozenset[int]) -> list[str]:
        """Judge some parts, as `pipeline.audit.judged.JUDGED`; return their files."""
        divided, target = self._contents()["parts"], self._work.new_judged()
        here = local_path(target)
        here.mkdir(parents=True)
        numbered = [(number, divided[number]) for number in sorted(parts)]
        tasks = self._spark.parallelize(numbered, len(numbered))
        tasks.foreachPartition(partial(_judged, judge, self._folder, here))
        return self._work.files(target)

    def _contents(self) -> _Contents:
        found: _Contents = orjson.loads((self._folder / CONTENTS).read_bytes())
        return found


def _written(folder: Path, batches: Batches) -> Iterator[_CaseBatch]:
    """Write the rows of a task to a file of its own."""
    name = f"{_attempt()}.arrow"
    with pa.ipc.new_file(folder / name, ROWS, options=_COMPRESSED) as file:
        for number, (batch, size) in enumerate(_pieces(batches)):
            file.write_batch(batch)
            yield _CaseBatch(name, number, size)


def _pieces(batches: Batches) -> Iterator[tuple[pa.RecordBatch, int]]:
    """Divide rows, apart from those that are not judged; yield the bytes of each."""
    for batch in batches:
        is_judged = pc.invert(pc.is_in(batch["what"], pa.array([*COUNTS, *OF_NIGHTS])))
        if (counts := batch.filter(pc.invert(is_judged))).num_rows:
            yield counts, 0
        left = batch.filter(is_judged)
        full = np.cumsum(sizes_of(pa.Table.from_batches([left]))) // _PIECE_BYTES
        alone = np.cumsum(np.asarray(pc.is_in(left["what"], pa.array(_SEVERAL))))
        begins = np.flatnonzero(np.diff(full + alone, prepend=-1))
        for begin, end in pairwise([*begins.tolist(), left.num_rows]):
            for start in range(begin, end, _PIECE_ROWS):
                piece = left.slice(start, min(_PIECE_ROWS, end - start))
                yield piece, max(1, piece.nbytes)


def _divided(pieces: Iterable[_CaseBatch], most: int) -> list[_Part]:
    """Deal pieces to parts, the largest first, each to the part with fewest bytes."""
    parts = [_Part() for _ in range(most)]
    sizes = [(0, number) for number in range(most)]
    for piece in sorted(pieces, key=lambda piece: (-piece.size, piece)):
        if piece.size:
            size, number = sizes[0]
            heapq.heapreplace(sizes, (size + piece.size, number))
            parts[number].append(piece[:2])
    return [sorted(part) for part in parts if part]


def _judged(
    judge: Judge, folder: Path, target: Path, parts: Iterable[tuple[int, _Part]]
) -> None:
    """Judge parts, each into a file that is in its place when it is complete."""
    for number, pieces in parts:
        unfinished = target / f".part-{number:05d}-{_attempt()}"
        with pq.ParquetWriter(
            unfinished, JUDGED, compression="none", use_dictionary=False
        ) as file:
            for batch in judge(_rows(folder, number, pieces)):
                file.write_batch(batch)
        unfinished.replace(target / f"part-{number:05d}.parquet")


def _rows(folder: Path, part: int, pieces: _Part) -> Batches:
    """Read the pieces of a part, as `CASES`."""
    for name, numbers in groupby(pieces, key=itemgetter(0)):
        with pa.memory_map(str(folder / name)) as file:
            opened = pa.ipc.open_file(file)
            for _, number in numbers:
                batch = opened.get_batch(number)
                place = pa.array(np.full(len(batch), part, np.int32))
                yield pa.RecordBatch.from_arrays([*batch, place], schema=CASES)


def _attempt() -> str:
    context = TaskContext.get()
    assert context is not None  # noqa: S101  # this runs in a task
    return f"{context.partitionId():05d}-{context.taskAttemptId()}"
