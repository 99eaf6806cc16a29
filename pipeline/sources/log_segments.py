"""Segments of a broker's log of groups: files such as ``__consumer_offsets-7/0…0.log``.

A segment is a sequence of record batches (Kafka's message format, magic 2, since 0.11),
as the broker has them on its disk. The library kafka-python decodes the batches.

Sources: "Message Format" in the documentation of Apache Kafka; KIP-98 (transactions).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from itertools import chain
from pathlib import PurePosixPath
from typing import Any, Final

from pipeline.records import OFFSETS_TOPIC
from pipeline.rows import UNREADABLE, Row, bytes_row, message_of, quarantine_row

HEAD_BYTES: Final = 17
"""Bytes of a batch up to its format (magic), which tell that a file is a segment."""

_HEAD: Final = struct.Struct(">qiib")  # first offset, length, leader epoch, magic
_BEFORE_LENGTH: Final = struct.calcsize(">qi")
_LEAST_LENGTH: Final = 14  # of a batch after its length: magic 0, key and value empty
_MAGIC: Final = 2
_NAME: Final = re.compile(r"\d{20}\.log")
_FOLDER: Final = re.compile(r"(.+)-(0|[1-9]\d{0,9})")
_BESIDE: Final = re.compile(
    r"\d{20}(-\d+)?\.(index|timeindex|txnindex|snapshot)"
    r"|(leader-epoch|log-start-offset|recovery-point-offset|replication-offset"
    r"|cleaner-offset)-checkpoint|(partition|bootstrap)\.(metadata|checkpoint)"
    r"|meta\.properties"
)
_BROKEN: Final = (ValueError, IndexError, struct.error, OSError, EOFError)
"""Exceptions of the decompression for a damaged batch, and those of kafka-python."""


def is_segment(name: str, head: bytes) -> bool:
    """Return whether a file is a segment, by its name and its first `HEAD_BYTES`.

    An empty file with such a name is one: a segment that has no batch yet.
    """
    if _NAME.fullmatch(PurePosixPath(name).name) is None:
        return False
    if len(head) < HEAD_BYTES:
        return not head.strip(b"\0")
    _, length, _, magic = _HEAD.unpack(head)
    return not any(head) or (length >= _LEAST_LENGTH and 0 <= magic <= _MAGIC)


def partition_of_folder(folder: str) -> tuple[str, int] | None:
    """Return topic and partition of the folder of a log; None if it is not one."""
    found = _FOLDER.fullmatch(folder)
    return None if found is None else (found[1], int(found[2]))


def is_offsets_folder(name: str) -> bool:
    """Return whether a folder has a partition of the log of groups."""
    found = partition_of_folder(name)
    return found is not None and found[0] == OFFSETS_TOPIC


def is_other_file(folder: str, name: str) -> bool:
    """Return whether a broker's file is not a segment of the log of groups.

    ``folder`` is the one that contains it.
    """
    if _NAME.fullmatch(name) is not None:
        return partition_of_folder(folder) is not None and not is_offsets_folder(folder)
    return _BESIDE.fullmatch(name) is not None


def rows_of_segment(data: bytes, source: str, partition: int) -> Iterator[Row]:
    """Yield the records of a segment; batches that are damaged go to quarantine.

    Records of a transaction count once it is committed. One whose end is not in the
    segment counts: its marker can be in the next.
    """
    from kafka.errors import KafkaError  # noqa: PLC0415  # it takes long to load

    place: dict[str, Any] = {"source": source, "source_partition": partition}
    held: dict[int, list[Row]] = {}  # by producer, until a marker ends them
    for start, piece in _pieces(data):
        if piece is None:
            left = len(data) - start
            reason = f"breaks off at byte {start:,}: {left:,} bytes are not a batch"
            yield quarantine_row(UNREADABLE, reason, raw=data[start:], **place)
            break
        try:
            batch = _checked(piece)
            rows = [_row(record, place) for record in batch]
            producer = batch.producer_id
        except (KafkaError, *_BROKEN) as error:
            reason = f"unreadable batch at byte {start:,}: {message_of(error)}"
            (offset,) = struct.unpack_from(">q", piece)
            yield quarantine_row(UNREADABLE, reason, line=offset, raw=piece, **place)
            continue
        if batch.is_control_batch:
            ended = held.pop(producer, [])
            yield from ended if _is_commit(rows) else ()
        elif batch.is_transactional:
            held.setdefault(producer, []).extend(rows)
        else:
            yield from rows
    yield from chain.from_iterable(held.values())


def _pieces(data: bytes) -> Iterator[tuple[int, bytes | None]]:
    """Yield each batch with its start; None where no batch begins.

    A broker that preallocates segments fills them up with zeros.
    """
    start = 0
    while start < len(data):
        if len(data) - start >= HEAD_BYTES:
            _, length, _, magic = _HEAD.unpack_from(data, start)
            end = start + _BEFORE_LENGTH + length
            if length >= _LEAST_LENGTH and 0 <= magic <= _MAGIC and end <= len(data):
                yield start, data[start:end]
                start = end
                continue
        if any(data[start:]):
            yield start, None
        return


def _checked(piece: bytes) -> Any:
    """Open a batch whose checksum holds.

    Raises
    ------
    ValueError, KafkaError
        If it does not, the batch is damaged, or it is in an older format.
    """
    from kafka.record.default_records import DefaultRecordBatch  # noqa: PLC0415

    magic = piece[HEAD_BYTES - 1]
    if magic != _MAGIC:
        raise ValueError(f"message format {magic}, of Kafka before 0.11")
    batch = DefaultRecordBatch(piece)
    if not batch.validate_crc():
        raise ValueError("its checksum is wrong")
    return batch


def _row(record: Any, place: dict[str, Any]) -> Row:
    at = record.timestamp
    return bytes_row(
        place["source"],
        partition=place["source_partition"],
        offset=record.offset,
        at=None if at is None or at < 0 else at,
        key=record.key,
        value=record.value,
    )


def _is_commit(marker: list[Row]) -> bool:
    """Return whether the record of a control batch ends a transaction with a commit.

    Its key has a version and a type: 0 aborts, 1 commits (KIP-98).
    """
    return any(row["key"][2:4] == b"\0\1" for row in marker)
