r"""Records that Kafka's console consumer prints as text, one per line.

With ``BytesDeserializer`` for key and value, the tool prints printable ASCII as it is,
and any other byte, and the backslash, as ``\xNN`` (``Bytes.toString`` of
``kafka-clients``), so no byte is lost. With ``print.timestamp``, ``print.partition``,
``print.offset`` (KIP-431, Kafka 2.7), and ``print.key``, a line has five columns,
separated by tabulators, such as ``CreateTime:1795709498578``, ``Partition:0``,
``Offset:0``, ``\x00\x02\x00\x01g``, and ``null``, which is a tombstone. No value of a
record is ``null``: all begin with a version of two bytes. Other output of the tool
loses bytes, or offsets, and is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from pipeline.files.lines import Line
from pipeline.records import OFFSETS_TOPIC
from pipeline.records.record_times import milliseconds
from pipeline.rows import UNREADABLE, Row, quarantine_row, record_row
from pipeline.sources.record_lines import INT32_MAX
from rebalance import INT64_MAX

COMMAND: Final = (
    "kafka-console-consumer --bootstrap-server HOST:PORT --topic "
    f"{OFFSETS_TOPIC} --from-beginning --isolation-level read_committed --timeout-ms "
    "30000 --property print.timestamp=true --property print.partition=true --property "
    "print.offset=true --property print.key=true --key-deserializer "
    "org.apache.kafka.common.serialization.BytesDeserializer --value-deserializer "
    "org.apache.kafka.common.serialization.BytesDeserializer > records.txt"
)
"""Prints every record without loss, with the tools of Kafka 2.7 and newer."""
INSTEAD: Final = f"print the records without loss: {COMMAND}"

OLD_FORMATTER: Final = (
    "text of a formatter of Kafka before 3.9, which leaves out subscriptions and "
    f"assignments: {INSTEAD}"
)
OLD_COMMITS: Final = (
    "text of OffsetsMessageFormatter of Kafka before 3.9, which has offset commits "
    f"only, and no rebalances: {INSTEAD}"
)
NO_PLACE: Final = (
    "records of the console consumer without partitions and offsets, which show their "
    f"order: {INSTEAD}"
)
NO_BYTES: Final = (
    f"records of the console consumer as text, in which bytes are lost: {INSTEAD}"
)

_TIME: Final = rb"(?:(?:CreateTime|LogAppendTime):(?P<at>-?\d{1,19})\t|NO_TIMESTAMP\t)?"
_PLACE: Final = rb"Partition:(?P<partition>\d{1,10})\tOffset:(?P<offset>\d{1,19})\t"
_STARTS: Final = re.compile(_TIME + _PLACE)
_BYTES: Final = rb"(?:null|\\x00(?:[ -\[\]-~]|\\x[0-9A-F]{2})+)"
_LINE: Final = re.compile(
    _TIME
    + _PLACE
    + rb"(?:NO_HEADERS\t)?(?P<key>"
    + _BYTES
    + rb")\t(?P<value>"
    + _BYTES
    + rb")"
)
_BYTE: Final = re.compile(rb"\\x([0-9A-F]{2})")
_TIMED: Final = re.compile(rb"(?:CreateTime|LogAppendTime):-?\d+\t|Partition:\d+\t")
_BARE: Final = re.compile(rb"\\x00\\x[01][0-9A-F]\\x")
_OLD_GROUP: Final = re.compile(rb".*::(?:\[?GroupMetadata\(|GroupMetadata\[)")
_OLD_COMMIT: Final = re.compile(
    rb"\[.+,.+,\d+\]::(?:\[?OffsetAndMetadata[(\[]|\[?OffsetMetadata|NULL)"
)
_REMARK: Final = re.compile(
    rb"Option --?\S+ is deprecated .*|Processed a total of \d+ messages\s*"
)


def is_console(lines: Iterable[Line]) -> bool:
    """Return whether the first lines of a file are records in this form."""
    return any(_LINE.fullmatch(line.text) for line in lines)


def why_lossy(lines: Iterable[Line]) -> str | None:
    """Return why output of the console consumer cannot be used.

    None if the lines are not its output, or can be used.
    """
    for line in lines:
        text = line.text
        if _OLD_GROUP.match(text):
            return OLD_FORMATTER
        if _OLD_COMMIT.match(text):
            return OLD_COMMITS
        if _STARTS.match(text):
            return NO_BYTES
        if _TIMED.match(text) or _BARE.match(text):
            return NO_PLACE
    return None


def is_remark(text: bytes) -> bool:
    """Return whether a line is blank, or a remark of the tool."""
    return not text.strip() or _REMARK.fullmatch(text) is not None


def row_of_console_line(line: Line, source: str) -> Row:
    """Read one line: a record, or a row of quarantine with the reason."""
    found = _LINE.fullmatch(line.text)
    if found is None or not line.whole:
        is_cut = _STARTS.match(line.text) and line.whole
        reason = "a damaged line of a record" if is_cut else "no line of a record"
        return _unsound(reason, line, source)
    partition, offset = int(found["partition"]), int(found["offset"])
    if partition > INT32_MAX or offset > INT64_MAX:
        return _unsound("a partition or an offset that is too large", line, source)
    key = _bytes(found["key"])
    if key is None:
        return _unsound("key: a record without one", line, source)
    try:
        at = milliseconds(int(found["at"])) if found["at"] else None
    except ValueError as error:
        return _unsound(f"not a time: {error}", line, source)
    place = {"source_partition": partition, "source_offset": offset, "at": at}
    return record_row(source, place, key=key, value=_bytes(found["value"]))


def _bytes(text: bytes) -> bytes | None:
    if text == b"null":
        return None
    return _BYTE.sub(lambda match: bytes([int(match[1], 16)]), text)


def _unsound(reason: str, line: Line, source: str) -> Row:
    return quarantine_row(
        UNREADABLE, reason, source=source, line=line.number, raw=line.text
    )
