"""Content of files of Kafka Connect's S3 sink: one key, or one value, per record.

``ByteArrayConverter`` passes keys and values on as bytes. ``JsonFormat`` writes them as
base64 in a JSON text per line, ``AvroFormat`` as Avro bytes without a record around
them, and ``ParquetFormat`` wraps keys into a column ``key``. Values that a transform
has wrapped (``HoistField``, ``InsertField``) are objects in all three.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final, TypeAlias

import fastavro
import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.files.lines import Line, read_lines
from pipeline.sources.avro_files import AVRO_MAGIC
from pipeline.sources.sink_names import SinkForm
from pipeline.sources.source_kind import PARQUET_MAGIC, UnknownFormatError, first_lines

JSON_FORMAT: Final = "io.confluent.connect.s3.format.json.JsonFormat"
BYTES_FORMAT: Final = (
    "neither JSON, nor Avro, nor Parquet: ByteArrayFormat ends each record with a "
    "separator that its bytes can contain, so records cannot be told apart; set "
    f"format.class and keys.format.class of the sink to {JSON_FORMAT}"
)


@dataclass(frozen=True, slots=True)
class Unsound:
    """A place in a file that is neither a key nor a value, with its bytes."""

    reason: str
    raw: bytes


Item: TypeAlias = str | bytes | Mapping[str, Any] | Unsound | None
"""A key or a value: encoded, as bytes, or wrapped; None is a tombstone."""


@dataclass(slots=True, kw_only=True)
class SinkContent:
    """Items of a file in order; ``broken`` is why it cannot be read to its end."""

    items: list[Item] = field(default_factory=list)
    broken: Exception | None = None

    @property
    def first_unsound(self) -> int | None:
        """Position of the first unsound item, from 0; None if there is none."""
        found = (at for at, item in enumerate(self.items) if isinstance(item, Unsound))
        return next(found, None)


def form_of(file: BinaryIO, name: str) -> SinkForm:
    """Recognize the form of a file by its first bytes or lines.

    Raises
    ------
    UnknownFormatError
        If it has none of the forms.
    OSError, EOFError, zlib.error
        If it cannot be read so far.
    """
    file.seek(0)
    head = file.read(len(PARQUET_MAGIC))
    if head == PARQUET_MAGIC:
        return SinkForm.PARQUET
    if head == AVRO_MAGIC:
        return SinkForm.AVRO
    lines = first_lines(file)
    if lines and all(isinstance(_item_of_line(line), Unsound) for line in lines):
        raise UnknownFormatError(BYTES_FORMAT, source=name)
    return SinkForm.JSON


def content_of(data: bytes, form: SinkForm) -> SinkContent:
    """Read a whole file; the part before the place where it breaks off is kept."""
    read = {
        SinkForm.JSON: _json_items,
        SinkForm.AVRO: _avro_items,
        SinkForm.PARQUET: _parquet_items,
    }
    content = SinkContent()
    try:
        for item in read[form](data):
            content.items.append(item)
    except Exception as error:  # noqa: BLE001  # fastavro, of damaged bytes: anything
        content.broken = error
    return content


def _json_items(data: bytes) -> Iterator[Item]:
    """Yield an item per line; empty lines at the end are not lines.

    An empty line between others takes a place, so that no other item is displaced.
    """
    empty = 0
    for line in read_lines(io.BytesIO(data)):
        if not line.text.strip():
            empty += 1
            continue
        for _ in range(empty):
            yield Unsound("an empty line", b"")
        empty = 0
        yield _item_of_line(line)


def _item_of_line(line: Line) -> Item:
    if not line.whole:
        return Unsound("a line too long to be read", line.text)
    try:
        item = orjson.loads(line.text)
    except orjson.JSONDecodeError as error:
        return Unsound(f"not JSON: {error.msg}", line.text)
    return _item(item, line.text)


def _item(item: Any, raw: bytes) -> Item:
    if item is None or isinstance(item, str | bytes | dict):
        return item
    return Unsound("no text, no bytes, no object", raw)


def _avro_items(data: bytes) -> Iterator[Item]:
    for item in fastavro.reader(io.BytesIO(data)):
        yield _item(item, repr(item).encode())


def _parquet_items(data: bytes) -> Iterator[Item]:
    with pq.ParquetFile(pa.BufferReader(data)) as file:
        for batch in file.iter_batches():
            yield from batch.to_pylist()
