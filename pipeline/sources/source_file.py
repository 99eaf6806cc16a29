"""Files that the audit reads, as their first bytes or their footers describe them."""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from pathlib import PurePosixPath
from typing import BinaryIO, Final, TypeAlias
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.files import FileEntry, FileStore, is_local, name_of
from pipeline.sources.avro_files import AVRO_MAGIC, check_avro
from pipeline.sources.console_json import is_console_json
from pipeline.sources.console_lines import INSTEAD, is_console, why_lossy
from pipeline.sources.lines import GZIP_MAGIC, Line, decompressed, has_utf16_mark
from pipeline.sources.log_segments import HEAD_BYTES, is_segment, partition_of_folder
from pipeline.sources.other_tools import DUMP_LOG, is_dump
from pipeline.sources.record_format import AS_SPARK, RecordFormat
from pipeline.sources.record_lines import OFFSETS_TOPIC
from pipeline.sources.rows import message_of
from pipeline.sources.sink_content import form_of
from pipeline.sources.sink_names import SinkPart, SinkRole, pair_of, sink_name
from pipeline.sources.source_kind import (
    PARQUET_MAGIC,
    SourceKind,
    UnknownFormatError,
    encoding_of,
    first_lines,
    is_in_lines,
    kind_of_schema,
    kind_of_text,
)
from rebalance import SourceError, is_device_failure

LARGE: Final = 16 << 20
"""Bytes from which a text is read line by line, in blocks, and not as one value."""
WHOLE_LIMIT: Final = 256 << 20
"""Bytes of the largest file that is read as one value."""
DIGEST_LIMIT: Final = 1 << 30
"""Bytes of the largest file whose sha256 is computed."""
_OTHER_CODECS: Final = (".bz2", ".deflate", ".lz4", ".snappy", ".zst")
"""Names by which Hadoop would decompress a text that is not compressed."""
_CHUNK: Final = 1 << 20


class FileLayout(Enum):
    """How the content is laid out."""

    LINES = "lines"
    CONSOLE = "console"  # lines of the console consumer, with bytes as text
    LOG = "log"  # of applications: all files are read together
    CONSOLE_JSON = "console-json"  # of its formatters: all files are read together
    DOCUMENT = "document"  # of several lines: it can only be read as a whole
    PARQUET = "parquet"
    AVRO = "avro"
    SEGMENT = "segment"  # of a broker's log
    SINK = "sink"  # of Kafka Connect: values or keys, which are read together


_IN_LINES: Final = (
    FileLayout.LINES,
    FileLayout.CONSOLE,
    FileLayout.LOG,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParquetFooter:
    """Columns and row groups of a Parquet file; ``least_group`` is in bytes."""

    schema: pa.Schema
    group_rows: tuple[int, ...]
    least_group: int

    @property
    def rows(self) -> int:
        """Rows of all groups."""
        return sum(self.group_rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A file to be read: ``name`` is that of the tables, ``uri`` that of Spark.

    ``sha256`` is None where it is not computed: of remote files, and of large ones.
    ``partition`` is that of a log segment; ``sink`` is the place of a file of Kafka
    Connect's S3 sink. ``is_utf16`` texts have no lines for Spark. ``group_name`` is the
    group of a describe text's tables that state none.
    """

    name: str
    uri: str
    kind: SourceKind
    layout: FileLayout
    length: int
    modified_ms: int
    sha256: str | None = None
    packed: bool = False
    is_utf16: bool = False
    footer: ParquetFooter | None = field(default=None, compare=False)
    written: RecordFormat = AS_SPARK
    partition: int | None = None
    sink: SinkPart | None = None
    group_name: str | None = None

    @property
    def folder(self) -> str:
        """Folder of the name; describe texts of one folder are read together."""
        return str(PurePosixPath(self.name).parent)

    @property
    def is_large(self) -> bool:
        """Whether it is read line by line by Spark."""
        return (
            self.layout in _IN_LINES
            and self.length >= LARGE
            and not self.is_utf16
            and self.packed == self.uri.endswith(".gz")
            and not self.uri.endswith(_OTHER_CODECS)
        )


_Make: TypeAlias = "partial[SourceFile]"
"""Makes a file: its name, location, length, and time are known."""


def source_file(
    entry: FileEntry,
    name: str,
    store: FileStore,
    forced: SourceKind | None,
    written: RecordFormat,
) -> SourceFile:
    """Recognize a file by its content.

    Raises
    ------
    SourceError
        If it is not a source, or cannot be read.
    """
    make = partial(
        SourceFile,
        name=name,
        uri=entry.uri,
        length=entry.length,
        modified_ms=entry.modified_ms,
    )
    try:
        with store.open(entry.uri) as file:
            found = _recognized_by_name(file, make, forced, written)
            file.seek(0)
            digest = _digest(file, entry)
    except (OSError, EOFError, zlib.error, pa.ArrowException) as error:
        said = f"unreadable: {message_of(error)}"
        raise UnknownFormatError(said, source=name, cause=error) from None
    reason = _why_not_by_spark(found)
    if reason is not None:
        raise SourceError(reason, source=name)
    return replace(found, sha256=digest)


def _recognized_by_name(
    file: BinaryIO, make: _Make, forced: SourceKind | None, written: RecordFormat
) -> SourceFile:
    """Recognize a file; one of the S3 sink can have values or keys only."""
    name, uri = make.keywords["name"], make.keywords["uri"]
    sink = sink_name(uri)
    if sink is None or forced not in (None, SourceKind.RECORDS):
        return _recognized(file, make, forced, written)
    if sink.role is SinkRole.VALUES:
        try:
            return _recognized(file, make, None, written)
        except (SourceError, OSError, EOFError, zlib.error) as error:
            if is_device_failure(error):
                raise
            file.seek(0)  # values alone
    part = SinkPart(name=sink, form=form_of(file, name), pair=pair_of(uri, sink))
    return make(
        kind=SourceKind.RECORDS, layout=FileLayout.SINK, written=written, sink=part
    )


def _recognized(
    file: BinaryIO, make: _Make, forced: SourceKind | None, written: RecordFormat
) -> SourceFile:
    name, uri = make.keywords["name"], make.keywords["uri"]
    head = file.read(len(PARQUET_MAGIC))
    if head == PARQUET_MAGIC:
        footer = _footer(file, name)
        kind = kind_of_schema(footer.schema, name, written)
        if forced not in (None, kind):
            raise UnknownFormatError(f"Parquet with {kind.value}", source=name)
        return make(
            kind=kind, layout=FileLayout.PARQUET, footer=footer, written=written
        )
    if head == AVRO_MAGIC:
        file.seek(0)
        check_avro(file, name, written)
        return make(kind=SourceKind.RECORDS, layout=FileLayout.AVRO, written=written)
    head += file.read(HEAD_BYTES - len(head))
    if is_segment(name_of(uri), head):
        return make(
            kind=SourceKind.RECORDS,
            layout=FileLayout.SEGMENT,
            partition=_partition(uri, name),
        )
    lines = first_lines(file)
    if forced in (None, SourceKind.RECORDS) and is_dump(lines):
        raise UnknownFormatError(DUMP_LOG, source=name)
    kind = forced or kind_of_text(file, lines, name, written)
    make = partial(
        make,
        packed=head.startswith(GZIP_MAGIC),
        is_utf16=has_utf16_mark(decompressed(file).read(2)),
    )
    layout = _layout_of_a_tool(lines, name) if kind is SourceKind.RECORDS else None
    layout = FileLayout.LOG if kind is SourceKind.LEADER_LOG else layout
    if layout is not None:
        return make(kind=kind, layout=layout)
    if kind is SourceKind.RECORDS and written.encoding is None:
        written = replace(written, encoding=encoding_of(lines, written))
    is_document = kind is SourceKind.REBALANCES and not is_in_lines(lines)
    return make(
        kind=kind,
        layout=FileLayout.DOCUMENT if is_document else FileLayout.LINES,
        written=written,
    )


def _layout_of_a_tool(lines: list[Line], name: str) -> FileLayout | None:
    """Return the layout of records that one of Kafka's tools printed; None: others.

    Raises
    ------
    UnknownFormatError
        If the output has lost what is needed.
    """
    if is_console_json(lines):
        return FileLayout.CONSOLE_JSON
    if is_console(lines):
        return FileLayout.CONSOLE
    if reason := why_lossy(lines):
        raise UnknownFormatError(reason, source=name)
    return None


def _partition(uri: str, name: str) -> int:
    """Return the partition of a segment of the log of groups, by its folder."""
    *_, folder, _ = PurePosixPath(uri).parts
    found = partition_of_folder(unquote(folder))
    if found is None:
        reason = f"a log segment that is not in its folder, {OFFSETS_TOPIC}-PARTITION"
        raise UnknownFormatError(reason, source=name)
    topic, partition = found
    if topic != OFFSETS_TOPIC:
        reason = f"a log segment of topic {topic}, not {OFFSETS_TOPIC}"
        raise UnknownFormatError(reason, source=name)
    return partition


def _footer(file: BinaryIO, name: str) -> ParquetFooter:
    file.seek(0)
    try:
        with pq.ParquetFile(pa.PythonFile(file, mode="r")) as parquet:
            metadata = parquet.metadata
            groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
            schema = _with_instants(parquet.schema_arrow, parquet.schema)
    except (OSError, pa.ArrowException) as error:
        reason = f"unreadable Parquet: {message_of(error)}"
        raise UnknownFormatError(reason, source=name, cause=error) from None
    if not groups:
        raise SourceError("Parquet without rows", source=name)
    sizes = (
        sum(group.column(i).total_compressed_size for i in range(group.num_columns))
        for group in groups
    )
    rows = tuple(group.num_rows for group in groups)
    return ParquetFooter(schema=schema, group_rows=rows, least_group=min(sizes))


def _with_instants(schema: pa.Schema, stored: pq.ParquetSchema) -> pa.Schema:
    """Replace the type of INT96 columns, which Spark reads as instants.

    Arrow takes them for nanoseconds, as which Spark reads integers.
    """
    for at in range(len(stored)):
        column = stored.column(at)
        if column.physical_type == "INT96" and column.path in schema.names:
            field = schema.field(column.path).with_type(pa.timestamp("us", "UTC"))
            schema = schema.set(schema.get_field_index(column.path), field)
    return schema


def _digest(file: BinaryIO, entry: FileEntry) -> str | None:
    if not is_local(entry.uri) or entry.length > DIGEST_LIMIT:
        return None
    digest = hashlib.sha256()
    while chunk := file.read(_CHUNK):
        digest.update(chunk)
    return digest.hexdigest()


def _why_not_by_spark(file: SourceFile) -> str | None:
    """Return why Spark would not read a file, or would not see it."""
    last = name_of(file.uri)
    if last.endswith("._COPYING_"):
        return "Spark ignores files with such names: rename it, without ._COPYING_"
    if file.layout is not FileLayout.PARQUET and not file.is_large:
        if file.length > WHOLE_LIMIT:
            text = "a text whose name does not show whether it is compressed"
            if file.is_utf16:
                text = "a text in UTF-16 (convert it to UTF-8)"
            whole = {
                FileLayout.DOCUMENT: "one document",
                FileLayout.SEGMENT: "a log segment",
                FileLayout.AVRO: "an Avro file",
                FileLayout.SINK: "a file of Kafka Connect's sink",
                FileLayout.CONSOLE_JSON: f"output of a formatter ({INSTEAD})",
            }
            what = whole.get(file.layout, text)
            return f"{what}, larger than {WHOLE_LIMIT >> 20} MiB"
        try:
            last.encode()
        except UnicodeEncodeError:
            return "a file name that is not UTF-8: rename it"
    return None
