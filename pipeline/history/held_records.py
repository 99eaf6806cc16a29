"""Sorted records that are gathered until their groups are whole; many are in a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Final, Self

import numpy as np
import pyarrow as pa

from pipeline.rows import ROWS
from rebalance import Bools

LARGE: Final = 16 << 20
"""Bytes of records that are held in memory, about."""
DATA: Final = ("key", "value")
"""Columns that take most of the memory."""
_COMPRESSED: Final = pa.ipc.IpcWriteOptions(compression="lz4")


class HeldRecords:
    """Batches that are gathered, which rows begin groups, bytes, and records."""

    def __init__(self) -> None:
        self._batches: list[pa.RecordBatch] = []
        self._begins: list[Bools] = [np.empty(0, np.bool_)]
        self._file: _RecordFile | None = None
        self.size = self.records = 0

    def add(self, batch: pa.RecordBatch, begins: Bools, at: int, end: int) -> None:
        """Add some rows of a batch, of which ``begins`` are the first of groups."""
        if at < end:
            part = batch.slice(at, end - at)
            self._batches.append(part)
            self._begins.append(begins[at:end])
            self.size += part.nbytes
            self.records += len(part)
            if self.size > LARGE:
                self._write()

    def join(self, other: HeldRecords) -> None:
        """Add the rows of another one, which are not in a file."""
        self._batches += other._batches
        self._begins += other._begins
        self.size += other.size
        self.records += other.records

    @property
    def is_large(self) -> bool:
        """Whether the rows are in a file."""
        return self._file is not None

    @property
    def begins(self) -> Bools:
        """Which rows begin groups."""
        return np.concatenate(self._begins)

    def rows(self) -> pa.Table:
        """Return the rows without `DATA`."""
        names = [name for name in ROWS.names if name not in DATA]
        parts = [part.select(names) for part in self.batches()]
        return pa.Table.from_batches(parts).combine_chunks()

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Read the rows; one batch of those in memory."""
        if self._file is not None:
            yield from self._file.batches()
        elif self._batches:
            table = pa.Table.from_batches(self._batches, ROWS).combine_chunks()
            yield from table.to_batches()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Delete the file."""
        self._batches.clear()
        if self._file is not None:
            self._file.close()

    def _write(self) -> None:
        self._file = self._file or _RecordFile()
        self._file.write(self._batches)
        self._batches.clear()


class _RecordFile:
    """A temporary file of records."""

    def __init__(self) -> None:
        self._folder = TemporaryDirectory()
        self._path = str(Path(self._folder.name, "records"))
        self._stream: pa.RecordBatchStreamWriter | None = pa.ipc.new_stream(
            self._path, ROWS, options=_COMPRESSED
        )

    def write(self, batches: Iterable[pa.RecordBatch]) -> None:
        assert self._stream is not None  # noqa: S101  # nothing is read yet
        for batch in batches:
            self._stream.write_batch(batch)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Read the records; no others are written from now on."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None
        with pa.OSFile(self._path) as file, pa.ipc.open_stream(file) as stream:
            yield from stream

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()
        self._folder.cleanup()
