"""Lines of ``kafka-dump-log``, which prints what log segments contain.

Follows ``DumpLogSegments`` of Kafka 3.8 to 4.4: a line per file, per batch, and per
record, whose key and value are as the decoder prints them.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import orjson

from pipeline.records import PrintedError, encode_printed_key, encode_printed_value
from pipeline.sources.log_segments import partition_of_folder
from pipeline.sources.record_lines import OFFSETS_TOPIC, milliseconds
from rebalance import INT64_MAX

FILE: Final = b"Dumping "
BATCH: Final = b"baseOffset: "
RECORD_LINE: Final = b"| "
OLD_BATCH: Final = b"offset: "

_OF_THE_TOOL: Final = re.compile(
    rb"Dumping .*\.(log|index|timeindex|txnindex|snapshot)\s*$|Log starting offset: \d"
    rb"|baseOffset: -?\d|\| (offset|key): "
)
_RECORD: Final = re.compile(
    r"\| offset: (?P<offset>\d{1,19}) \w+: (?P<at>-?\d{1,19})"
    r" keySize: (?P<key>-?\d{1,10}) valueSize: (?P<value>-?\d{1,10})"
    r" sequence: -?\d+ headerKeys: \[[^\]]*\]"
    r"(?: endTxnMarker: (?P<marker>COMMIT|ABORT) coordinatorEpoch: -?\d+"
    r"|(?P<control> (?:controlType|\w+Change|Snapshot\w+|KRaft\w+):? .*)"
    r"|(?P<contents> (?:key|payload): .*))?",
    re.DOTALL | re.ASCII,
)
_NOISE: Final = re.compile(
    rb"Log starting offset: \d+|Non-consecutive offsets in .*|  \d+ is followed by \d+"
    rb"|  -1 is followed by \d+|Mismatches in :.*|  Index offset: .*"
    rb"|Indexed offset: .*|Found (timestamp mismatch|out of order timestamp) in :.*"
    rb"|  Index timestamp: .*|The following indexed offsets are not found in the log\."
)
_BEFORE_KEY: Final = " key: "
_PAYLOAD: Final = " payload: "
_TOMBSTONE: Final = "<DELETE>"
_OLD_DECODER: Final = re.compile(
    r"(offset_commit|group_metadata)::group=|unknown::version="
)
_SKIPPED: Final = re.compile(r"(?:Unknown record type|Error at offset) .*", re.DOTALL)
_JSON: Final = json.JSONDecoder()
_LOST: Final = ("?", "\ufffd")
"""What Java prints or reads for a character that it cannot encode or decode."""
_SHOWN: Final = 200  # characters of a message of the tool
_LONGEST_KEPT: Final = 1_024
"""Characters of the longest key that is kept: names have at most 249."""

_COMMAND: Final = (
    "kafka-dump-log.sh --print-data-log --offsets-decoder --files "
    f"/PATH/{OFFSETS_TOPIC}-PARTITION/SEGMENT.log > dump.txt"
)
_INSTEAD: Final = (
    "print it with --offsets-decoder of Kafka 3.8 or newer, or give the log segments "
    f"themselves, in their folders ({OFFSETS_TOPIC}-PARTITION)"
)
NO_CONTENTS: Final = (
    f"output of kafka-dump-log without the contents of records: {_INSTEAD}"
)
NO_DECODER: Final = (
    "output of kafka-dump-log without --offsets-decoder, which prints keys and values "
    f"as text and loses their bytes: {_INSTEAD}"
)
OLD_DECODER: Final = (
    "output of --offsets-decoder of kafka-dump-log before Kafka 3.8, which leaves out "
    f"subscriptions and more: {_INSTEAD}"
)
NO_METADATA: Final = (
    "output of kafka-dump-log with --skip-record-metadata, which leaves out offsets "
    "and times: print it without that option"
)
NO_FILE: Final = (
    "output of kafka-dump-log without the line 'Dumping FILE' above, which states the "
    f"partition: give the whole output, such as of {_COMMAND}"
)
NO_FOLDER: Final = (
    "output of kafka-dump-log for a file without its folder, which states the "
    f"partition: print it with --files …/{OFFSETS_TOPIC}-PARTITION/SEGMENT.log"
)


class UselessOutputError(ValueError):
    """Records that the tool was not asked to print, or only in part."""


class DamagedLineError(ValueError):
    """A line that cannot be used; the message states why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLine:
    """What the line of a batch states; ``is_sound`` is False if its checksum fails."""

    producer: int
    records: int
    is_transactional: bool
    is_control: bool
    is_sound: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordLine:
    """A record; ``is_commit`` is None unless it ends a transaction.

    ``key`` is None for records of control batches, and ``at`` is in milliseconds.
    """

    offset: int
    at: int | None
    is_commit: bool | None = None
    key: bytes | None = None
    value: bytes | None = None


def is_of_the_tool(line: bytes) -> bool:
    """Return whether a line is one that only ``kafka-dump-log`` prints."""
    return _OF_THE_TOOL.match(line) is not None


def is_noise(line: bytes) -> bool:
    """Return whether a line contains nothing to read: a title, or a complaint."""
    return _NOISE.fullmatch(line) is not None


def partition_of_file(line: bytes) -> int | None:
    """Return the partition of ``Dumping FILE``; None if the file is no segment.

    Raises
    ------
    UselessOutputError
        If the path has no folder of a partition.
    DamagedLineError
        If the folder is one of another topic.
    """
    path = line[len(FILE) :].decode(errors="replace").rstrip()
    *folders, name = re.split(r"[/\\]", path)
    if not name.endswith(".log"):
        return None
    found = partition_of_folder(folders[-1]) if folders else None
    if found is None:
        raise UselessOutputError(NO_FOLDER)
    topic, partition = found
    if topic != OFFSETS_TOPIC:
        reason = f"a log segment of topic {topic}, not {OFFSETS_TOPIC}"
        raise DamagedLineError(reason)
    return partition


def batch_of(line: bytes) -> BatchLine:
    """Read the line of a batch.

    Raises
    ------
    DamagedLineError
        If it lacks a word, or a word has another form.
    """
    words = line.split()
    told = dict(zip(words[::2], words[1::2], strict=False))
    try:
        return BatchLine(
            producer=int(told[b"producerId:"]),
            records=0 if told[b"count:"] == b"null" else int(told[b"count:"]),
            is_transactional=_is_true(told[b"isTransactional:"]),
            is_control=_is_true(told[b"isControl:"]),
            is_sound=_is_true(told[b"isvalid:"]),
        )
    except (KeyError, ValueError):
        raise DamagedLineError("a damaged line of a batch") from None


def record_of(line: bytes) -> RecordLine:
    """Read the line of a record.

    Raises
    ------
    UselessOutputError
        If the tool was not asked for the contents.
    DamagedLineError
        If the line is damaged, or the tool could not decode the record.
    """
    try:
        text = line.decode()
    except UnicodeDecodeError:
        raise DamagedLineError("not UTF-8") from None
    if text.startswith(("| key: ", "| payload: ")):
        raise UselessOutputError(NO_METADATA)
    found = _RECORD.fullmatch(text)
    if found is None:
        raise DamagedLineError("a damaged line of a record")
    offset, at = int(found["offset"]), _time(found["at"])
    if offset > INT64_MAX:
        raise DamagedLineError(f"an offset above {INT64_MAX}")
    if found["marker"] is not None:
        is_commit = found["marker"] == "COMMIT"
        return RecordLine(offset=offset, at=at, is_commit=is_commit)
    if found["control"] is not None:
        return RecordLine(offset=offset, at=at)
    if found["contents"] is None:
        raise UselessOutputError(NO_CONTENTS)
    sizes = int(found["key"]), int(found["value"])
    key, value = _contents(found["contents"], *sizes)
    return RecordLine(offset=offset, at=at, key=key, value=value)


def _contents(text: str, key_size: int, value_size: int) -> tuple[bytes, bytes | None]:
    """Encode key and value, and compare them with the lengths of what was printed."""
    if not text.startswith(_BEFORE_KEY):
        raise DamagedLineError("key: a record without one")
    record_type, key, rest = _leading_key(text[len(_BEFORE_KEY) :])
    if not rest.startswith(_PAYLOAD):
        raise DamagedLineError("no payload, or text between key and payload")
    payload = rest[len(_PAYLOAD) :]
    if len(key) != key_size:
        raise DamagedLineError(_unequal("key", len(key), key_size))
    if payload == _TOMBSTONE:
        if value_size >= 0:
            raise DamagedLineError(_unequal("payload", 0, value_size))
        return key, None
    value = _encoded_value(record_type, payload)
    # It is shorter if it had tags that the tool, or we, do not know.
    is_cut = len(value) < value_size and any(mark in payload for mark in _LOST)
    if len(value) > value_size or is_cut:
        raise DamagedLineError(_unequal("payload", len(value), value_size))
    return key, value


def _leading_key(text: str) -> tuple[int, bytes, str]:
    """Return the type of the record, its key, and what follows the key."""
    if _SKIPPED.fullmatch(text):
        raise DamagedLineError(f"the tool reports: {text[:_SHOWN]}")
    if _OLD_DECODER.match(text):
        raise UselessOutputError(OLD_DECODER)
    if not text.startswith('{"type":'):
        raise UselessOutputError(NO_DECODER)
    try:
        return _split(text)
    except PrintedError as error:
        raise DamagedLineError(f"key: {error}") from None


def _split(text: str) -> tuple[int, bytes, str]:
    """Split after the key; a name in it can contain what precedes a payload."""
    end = max(text.find(_PAYLOAD), 0)
    encoded = _kept_key if end <= _LONGEST_KEPT else _key
    try:
        return *encoded(text[:end]), text[end:]
    except orjson.JSONDecodeError:
        pass
    try:
        printed, end = _JSON.raw_decode(text)
    except (ValueError, RecursionError):
        raise DamagedLineError("key: damaged JSON") from None
    return *encode_printed_key(printed), text[end:]


def _key(text: str) -> tuple[int, bytes]:
    return encode_printed_key(orjson.loads(text))


_kept_key = lru_cache(maxsize=16_384)(_key)


def _encoded_value(record_type: int, payload: str) -> bytes:
    try:
        return encode_printed_value(record_type, orjson.loads(payload))
    except orjson.JSONDecodeError as error:
        raise DamagedLineError(f"payload: not JSON: {error.msg}") from None
    except PrintedError as error:
        raise DamagedLineError(f"payload: {error}") from None


def _unequal(part: str, length: int, recorded: int) -> str:
    reason = f"{part}: {length:,} bytes as printed, {max(recorded, 0):,} in the log"
    if length < recorded:
        reason += (
            "; print it with the tool of the broker's version, in a locale of UTF-8 "
            "(LC_ALL=C.UTF-8)"
        )
    return reason


def _time(text: str) -> int | None:
    try:
        return milliseconds(text)
    except ValueError as error:
        raise DamagedLineError(f"not a time: {error}") from None


def _is_true(word: bytes) -> bool:
    if word not in (b"true", b"false"):
        raise ValueError(word)
    return word == b"true"
