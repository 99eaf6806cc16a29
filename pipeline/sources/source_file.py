"""Files that the audit reads, as their first bytes or their footers describe them."""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from pathlib import PurePosixPath
from typing import BinaryIO, Final, TypeAlias
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.files import FileEntry, FileStore, is_local, name_of
from pipeline.files.lines import GZIP_MAGIC, Line, has_utf16_mark
from pipeline.records import OFFSETS_TOPIC
from pipeline.rows import message_of
from pipeline.sources.avro_files import AVRO_MAGIC, check_avro
from pipeline.sources.console_json import is_console_json
from pipeline.sources.console_lines import INSTEAD, is_console, why_lossy
from pipeline.sources.log_segments import HEAD_BYTES, is_segment, partition_of_folder
from pipeline.sources.other_tools import DUMP_LOG, is_dump
from pipeline.sources.record_format import AS_SPARK, RecordFormat
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
"""Bytes from which a text is read in blocks, by several tasks."""
WHOLE_LIMIT: Final = 256 << 20
"""Bytes of the largest file that is read as one value."""
DIGEST_LIMIT: Final = 1 << 30
"""Bytes of the largest file whose sha256 is computed."""
_CHUNK: Final = 1 << 20


class FileLayout(Enum):
    """How the content is laid out."""

    LINES = "lines"
    CONSOLE = "console"  # lines of the console consumer, with bytes as text
    LOG = "log"  # of applications: all files are read together
    CONSOLE_JSON = "console-json"  # of its formatters: all files are read together
    DOCUMENT = "document"  # of several lines: it can only be read as a whole
    PARQUET = "parquet"
    STORED = "stored"  # Parquet with rows as tasks pass them on (`pipeline.nights`)
    AVRO = "avro"
    SEGMENT = "segment"  # of a broker's log
    SINK = "sink"  # of Kafka Connect: values or keys, which are read together


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A file to be read: ``name`` is that of the tables, ``uri`` its location.

    ``sha256`` is None where it is not computed: of remote files, and of large ones.
    ``is_plain`` texts are neither compressed nor in UTF-16: the bytes between line
    feeds are lines. ``group_rows`` are those of each row group of Parquet.
    ``partition`` is that of a log segment; ``sink`` is the place of a file of Kafka
    Connect's S3 sink. ``group_name`` is the group of a describe text's tables that
    state none.
    """

    name: str
    uri: str
    kind: SourceKind
    layout: FileLayout
    length: int
    modified_ms: int
    sha256: str | None = None
    is_plain: bool = False
    group_rows: tuple[int, ...] = ()
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
        """Whether it is divided at ends of lines."""
        is_in_lines = self.layout in (FileLayout.LINES, FileLayout.CONSOLE)
        return is_in_lines and self.is_plain and self.length >= LARGE


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
    reason = _why_refused(found)
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
        schema, group_rows = _footer(file, name)
        kind = kind_of_schema(schema, name, written)
        if forced not in (None, kind):
            raise UnknownFormatError(f"Parquet with {kind.value}", source=name)
        return make(
            kind=kind,
            layout=FileLayout.PARQUET,
            group_rows=group_rows,
            written=written,
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
    is_plain = not (head.startswith(GZIP_MAGIC) or has_utf16_mark(head))
    return _recognized_text(file, partial(make, is_plain=is_plain), forced, written)


def _recognized_text(
    file: BinaryIO, make: _Make, forced: SourceKind | None, written: RecordFormat
) -> SourceFile:
    name = make.keywords["name"]
    lines = first_lines(file)
    if forced in (None, SourceKind.RECORDS) and is_dump(lines):
        raise UnknownFormatError(DUMP_LOG, source=name)
    kind = forced or kind_of_text(file, lines, name, written)
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
        If the output has lost necessary fields.
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


def _footer(file: BinaryIO, name: str) -> tuple[pa.Schema, tuple[int, ...]]:
    """Return the columns of a Parquet file, and the rows of its row groups."""
    file.seek(0)
    try:
        with pq.ParquetFile(pa.PythonFile(file, mode="r")) as parquet:
            metadata, schema = parquet.metadata, parquet.schema_arrow
            groups = range(metadata.num_row_groups)
            group_rows = tuple(metadata.row_group(at).num_rows for at in groups)
    except (OSError, pa.ArrowException) as error:
        reason = f"unreadable Parquet: {message_of(error)}"
        raise UnknownFormatError(reason, source=name, cause=error) from None
    if not groups:
        raise SourceError("Parquet without rows", source=name)
    return schema, group_rows


def _digest(file: BinaryIO, entry: FileEntry) -> str | None:
    if not is_local(entry.uri) or entry.length > DIGEST_LIMIT:
        return None
    digest = hashlib.sha256()
    while chunk := file.read(_CHUNK):
        digest.update(chunk)
    return digest.hexdigest()


def _why_refused(file: SourceFile) -> str | None:
    """Return why a file cannot be read although it is a source."""
    last = name_of(file.uri)
    if last.endswith("._COPYING_"):
        return "Hadoop still copies files with such names: rename it if it is complete"
    whole = {
        FileLayout.DOCUMENT: "one document",
        FileLayout.SEGMENT: "a log segment",
        FileLayout.AVRO: "an Avro file",
        FileLayout.SINK: "a file of Kafka Connect's sink",
        FileLayout.CONSOLE_JSON: f"output of a formatter ({INSTEAD})",
    }
    if file.layout in whole and file.length > WHOLE_LIMIT:
        return f"{whole[file.layout]}, larger than {WHOLE_LIMIT >> 20} MiB"
    try:
        last.encode()
    except UnicodeEncodeError:
        return "a file name that is not UTF-8: rename it"
    return None
