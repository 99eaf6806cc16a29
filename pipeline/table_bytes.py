"""Tables as bytes: an opaque value for Spark and files, in Arrow's format."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa


def as_bytes(table: pa.Table, compression: str | None) -> bytes:
    """Return a table as a stream in Arrow's format."""
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(sink, table.schema, options=options) as stream:
        stream.write_table(table)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def from_bytes(data: pa.Buffer | bytes, columns: Sequence[int] = ()) -> pa.Table:
    """Return the table of `as_bytes`, or only some of its columns."""
    options = pa.ipc.IpcReadOptions(included_fields=[*columns] or None)
    with pa.ipc.open_stream(data, options=options) as stream:
        return stream.read_all()
