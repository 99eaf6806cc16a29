"""Output of ``kafka-dump-log`` as a source: the records that it printed.

The rows are those of the segments themselves (`rows_of_segment`). What a line means
depends on the lines before it, so the lines of a file are read in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pipeline.describe.messages import IGNORED, note_of
from pipeline.sources.dump_lines import (
    BATCH,
    FILE,
    NO_CONTENTS,
    NO_FILE,
    OLD_BATCH,
    RECORD_LINE,
    BatchLine,
    DamagedLineError,
    RecordLine,
    UselessOutputError,
    batch_of,
    is_noise,
    is_of_the_tool,
    partition_of_file,
    record_of,
)
from pipeline.sources.lines import Line
from pipeline.sources.rows import (
    RECORD,
    SET_ASIDE,
    UNREADABLE,
    Row,
    bytes_row,
    quarantine_row,
)
from pipeline.sources.transactions import OpenTransactions


def is_dump(lines: Iterable[Line]) -> bool:
    """Return whether the first lines of a file are of ``kafka-dump-log``."""
    return any(is_of_the_tool(line.text) for line in lines)


def why_useless(lines: Iterable[Line], source: str) -> str | None:
    """Return why output cannot be used, as its first lines show; None if it can."""
    reader = DumpReader(source)
    for line in lines:
        if any(row["what"] == RECORD for row in reader.rows_of(line)):
            return None
    return reader.first_useless


def rows_of_dump(lines: Iterable[Line], source: str) -> Iterator[Row]:
    """Yield the records that are printed; a line that is damaged goes to quarantine.

    Lines that the tool was not asked to print are counted, one row per reason.
    """
    reader = DumpReader(source)
    for line in lines:
        yield from reader.rows_of(line)
    yield from reader.end()


class DumpReader:
    """Reads lines in order; ``source`` is the name of the file."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._is_read = True  # False: a file that is no segment of groups
        self._partition: int | None = None
        self._batch: BatchLine | None = None
        self._left = 0  # records of the batch that are not seen yet
        self._is_ended = False  # the marker of the batch is read
        self._batch_line: Line | None = None
        self._transactions = OpenTransactions()
        self._useless: dict[str, Row] = {}  # by reason

    @property
    def first_useless(self) -> str | None:
        """The first reason for which lines are useless; None: none is."""
        return next(iter(self._useless), None)

    def rows_of(self, line: Line) -> Iterator[Row]:
        """Yield what one line adds."""
        try:
            yield from self._rows_of(line)
        except UselessOutputError as error:
            self._count(str(error), line)
        except DamagedLineError as error:
            yield self._quarantined(str(error), line)

    def end(self) -> Iterator[Row]:
        """Yield what remains at the end of the file."""
        yield from self._end_file()
        yield from self._useless.values()

    def _rows_of(self, line: Line) -> Iterator[Row]:
        text = line.text
        if text.startswith(FILE):
            yield from self._begin_file(line)
        elif not self._is_read or not text.strip() or is_noise(text):
            return
        elif not line.whole:
            raise DamagedLineError("a line too long to be read")
        elif text.startswith(BATCH):
            yield from self._begin_batch(line)
        elif text.startswith(RECORD_LINE):
            yield from self._record(line)
        else:
            yield from self._other(line)

    def _begin_file(self, line: Line) -> Iterator[Row]:
        yield from self._end_file()
        self._is_read = False
        self._partition = partition_of_file(line.text)
        self._is_read = self._partition is not None

    def _end_file(self) -> Iterator[Row]:
        yield from self._end_batch()
        yield from self._transactions.rest()

    def _begin_batch(self, line: Line) -> Iterator[Row]:
        yield from self._end_batch()
        try:
            batch = batch_of(line.text)
        except DamagedLineError:
            # It can be a marker, of any producer.
            yield from self._transactions.rest()
            raise
        self._batch, self._batch_line = batch, line
        self._left, self._is_ended = batch.records, False
        if not batch.is_sound:
            yield self._quarantined("a batch whose checksum is wrong", line)

    def _end_batch(self) -> Iterator[Row]:
        """Count a batch of which no record is printed; note a marker that is damaged.

        A transaction whose end cannot be read counts, as if it were not there.
        """
        batch, line = self._batch, self._batch_line
        self._batch = None
        if batch is None or line is None or not batch.is_sound:
            return
        if batch.is_control and not self._is_ended:
            yield from self._transactions.end(batch.producer, is_commit=True)
        elif batch.records and self._left == batch.records:
            self._count(NO_CONTENTS, line)

    def _record(self, line: Line) -> Iterator[Row]:
        self._left -= 1
        if self._batch is not None and not self._batch.is_sound:
            return
        record = record_of(line.text)
        partition = self._partition
        if partition is None:
            raise UselessOutputError(NO_FILE)
        if self._batch is None:
            raise DamagedLineError("a record without a sound line of its batch above")
        producer = self._batch.producer
        if self._batch.is_control:
            if record.is_commit is not None:
                self._is_ended, is_commit = True, record.is_commit
                yield from self._transactions.end(producer, is_commit=is_commit)
            return
        row = self._row(record, partition)
        if self._batch.is_transactional:
            self._transactions.hold(producer, [row])
        else:
            yield row

    def _row(self, record: RecordLine, partition: int) -> Row:
        return bytes_row(
            self._source,
            partition=partition,
            offset=record.offset,
            at=record.at,
            key=record.key,
            value=record.value,
        )

    def _other(self, line: Line) -> Iterator[Row]:
        """Yield the row of a line that is neither of a batch nor of a record."""
        text = line.text.decode(errors="replace")
        note = note_of(text, line.number)
        if note is not None and note.says == IGNORED:
            return
        if note is not None:
            row = self._quarantined(f"the tool reports: {note.text[:200]}", line)
            yield row | {"what": SET_ASIDE, "record": "message"}
        elif line.text.startswith(OLD_BATCH):
            yield self._quarantined("a batch in a format of Kafka before 0.11", line)
        elif text.startswith("Found ") and " invalid bytes at the end of " in text:
            yield self._quarantined(f"the tool reports: {text[:200]}", line)
        else:
            self._left -= 1  # it can be a record that is damaged
            yield self._quarantined("no line of kafka-dump-log", line)

    def _count(self, reason: str, line: Line) -> None:
        if reason in self._useless:
            self._useless[reason]["records"] += 1
        else:
            self._useless[reason] = self._quarantined(reason, line)

    def _quarantined(self, reason: str, line: Line) -> Row:
        return quarantine_row(
            UNREADABLE,
            reason,
            source=self._source,
            line=line.number,
            raw=line.text,
            record="line",
        )
