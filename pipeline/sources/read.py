"""Read a split of any source kind into rows."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import pyarrow as pa

from pipeline.cases import Case
from pipeline.describe.group_case import NotJudged, case_of, partitions_seen
from pipeline.describe.snapshots import Snapshot, Stray, read_snapshots
from pipeline.records import decode_record
from pipeline.sources.documents import (
    is_in_lines,
    read_document_file,
    read_document_lines,
    read_document_table,
)
from pipeline.sources.find import Split
from pipeline.sources.lines import read_lines
from pipeline.sources.record_lines import row_of_line
from pipeline.sources.record_parquet import read_records
from pipeline.sources.rows import (
    RECORD,
    SET_ASIDE,
    UNREADABLE,
    Row,
    case_row,
    quarantine_row,
    topic_row,
)
from pipeline.sources.source_kind import SourceKind
from rebalance import MAX_PARTITIONS, OracleError, WireError


def rows_of(split: Split, max_partitions: int = MAX_PARTITIONS) -> Iterator[Row]:
    """Yield the rows of a split; an error becomes a row of quarantine."""
    source = split.files[0][0]
    try:
        for row in _reader(split, max_partitions):
            yield keyed(row) if row["what"] == RECORD else row
    except (OSError, EOFError, zlib.error, pa.ArrowException, OracleError) as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        yield quarantine_row(UNREADABLE, f"breaks off here: {first}", source=source)


def _reader(split: Split, max_partitions: int) -> Iterator[Row]:
    if split.kind is SourceKind.DESCRIBE:
        return _describe(split)
    source, path = split.files[0]
    if split.kind is SourceKind.RECORDS:
        if split.row_group is not None:
            return read_records(path, split.row_group, source)
        lines = read_lines(path, split.extent)
        return (row_of_line(line, source) for line in lines if line.text.strip())
    if split.row_group is not None:
        return read_document_table(path, split.row_group, source, max_partitions)
    if split.extent.is_whole and not is_in_lines(path):
        return read_document_file(path, source, max_partitions)
    return read_document_lines(path, split.extent, source, max_partitions)


def keyed(row: Row) -> Row:
    """Add the group of a record, from its key."""
    try:
        group_id = decode_record(row["key"], None).group_id
    except WireError as error:
        return quarantine_row(
            UNREADABLE,
            str(error),
            source=row["source"],
            line=row["source_offset"],
            raw=row["value"],
            key=row["key"],
            source_partition=row["source_partition"],
            at=row["at"],
        )
    return row | {"group_id": group_id}


def _describe(split: Split) -> Iterator[Row]:
    files = ((name, read_lines(path)) for name, path in split.files)
    snapshots, strays = read_snapshots(files)
    largest: dict[str, int] = {}
    for snapshot in snapshots:
        for topic, partitions in partitions_seen(snapshot):
            largest[topic] = max(partitions, largest.get(topic, 0))
        yield _judged(snapshot)
    for topic, partitions in largest.items():
        yield topic_row(topic, partitions)
    yield from _stray(strays)


def _judged(snapshot: Snapshot) -> Row:
    try:
        case: Case = case_of(snapshot)
    except NotJudged as error:
        source, line = snapshot.place
        return quarantine_row(
            SET_ASIDE if error.sound else UNREADABLE,
            str(error),
            source=source,
            line=line,
            raw=snapshot.raw,
            group_id=snapshot.group_id,
            record="snapshot",
        )
    return case_row(case)


def _stray(strays: list[Stray]) -> Iterator[Row]:
    """Yield lines outside of tables, one row per run of lines."""
    run: Row | None = None
    expected = ("", 0)
    for stray in strays:
        fault = stray.fault
        if run is not None and expected == (stray.source, fault.line):
            run["records"] += 1
        else:
            if run is not None:
                yield run
            run = quarantine_row(
                UNREADABLE,
                fault.reason,
                source=stray.source,
                line=fault.line,
                raw=fault.text,
                group_id=fault.group_id,
                record="line",
            )
        expected = (stray.source, fault.line + 1)
    if run is not None:
        yield run
