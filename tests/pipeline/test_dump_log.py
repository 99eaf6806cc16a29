"""Output of ``kafka-dump-log`` as a source: the rows of the segments it printed."""

from __future__ import annotations

import gzip
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.records import (
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupMetadata,
    ConsumerGroupTargetAssignmentMetadata,
    GroupMetadata,
    OffsetCommit,
    Record,
    TopicIdPartitions,
    decode_record,
)
from pipeline.sources.dump_files import rows_of_dump
from pipeline.sources.find import find_sources
from pipeline.sources.lines import Line
from pipeline.sources.rows import RECORD, SET_ASIDE, UNREADABLE, Row
from pipeline.sources.source_file import FileLayout
from rebalance import SourceError
from tests.examples import costly
from tests.pipeline.dumped_groups import (
    BROKER,
    DAMAGED,
    DATA,
    RARE,
)
from tests.pipeline.local_reading import read_path

DECODED = DATA / "decoded.txt"
TEXT = DECODED.read_text()
LINES = TEXT.splitlines()
SECTIONS = ["Dumping " + part for part in TEXT.split("Dumping ")[1:]]
RARE_TEXT = SECTIONS[1]
RECORD_LINES = [n for n, line in enumerate(LINES) if line.startswith("| offset: ")]


def read_text(text: str) -> list[Row]:
    lines = text.encode(errors="surrogateescape").split(b"\n")
    numbered = (Line(number=n, text=line) for n, line in enumerate(lines, start=1))
    return list(rows_of_dump(numbered, "d.txt"))


def records(rows: list[Row]) -> list[Row]:
    names = ("source_partition", "source_offset", "at", "key", "value")
    return [
        {name: row[name] for name in names} for row in rows if row["what"] == RECORD
    ]


def damage(rows: list[Row]) -> list[tuple[int | None, str, int]]:
    return [
        (row["source_offset"], row["reason"], row["records"])
        for row in rows
        if row["what"] != RECORD
    ]


# What the real tool prints, and the segments that it read.


def test_groups_of_both_protocols_and_transactions_have_the_rows_of_the_segment() -> (
    None
):
    ours = [row for row in records(read_path(DECODED)) if row["source_partition"] == 0]
    theirs = records(read_path(DATA / BROKER))
    assert ours == theirs
    decoded = [decode_record(row["key"], row["value"]) for row in theirs]
    kinds = {type(one).__name__ for one in decoded}
    assert kinds >= {
        "ConsumerGroupCurrentMemberAssignment",
        "ConsumerGroupMemberMetadata",
        "ConsumerGroupMetadata",
        "ConsumerGroupTargetAssignmentMember",
        "ConsumerGroupTargetAssignmentMetadata",
        "ConsumerGroupTombstone",
        "GroupMetadata",
        "GroupTombstone",
        "OffsetCommit",
        "OffsetTombstone",
    }
    commits = {one.offset for one in decoded if isinstance(one, OffsetCommit)}
    assert 7 in commits  # of the transaction that is committed
    assert 999 not in commits  # of the one that is aborted
    assert "999" in TEXT
    names = {one.group_id for one in decoded if isinstance(one, GroupMetadata)}
    assert names >= {"klassisch-ü", "java"}


def test_a_folder_of_segments_and_output_is_read_whole(tmp_path: Path) -> None:
    """Both have the same records, which then count once."""
    found = find_sources([DATA / BROKER, DECODED])
    assert [file.layout for file in found.files] == [
        FileLayout.SEGMENT,
        FileLayout.DUMP,
    ]
    assert found.files[1].written.encoding is None


def test_rare_records_have_the_rows_of_the_segment_or_a_reason() -> None:
    ours = [row for row in records(read_path(DECODED)) if row["source_partition"] == 7]
    theirs = read_path(DATA / RARE)
    skipped = (4, 5, 6)  # unknown type, no value, newer version
    expected = [row for row in records(theirs) if row["source_offset"] not in skipped]
    assert ours == expected
    assert [row["source_offset"] for row in expected] == [0, 1, 2, 3, 7, 9, 12]
    reasons = [reason for _, reason, _ in damage(read_text(RARE_TEXT))]
    assert len(reasons) == len(skipped)
    assert reasons[0] == (
        "the tool reports: Unknown record type 99 at offset 4, skipping."
    )
    for offset, reason in zip((5, 6), reasons[1:], strict=True):
        assert reason.startswith(f"the tool reports: Error at offset {offset}, skipp")


def test_a_damaged_batch_is_quarantined_as_in_the_segment() -> None:
    ours, theirs = read_text(SECTIONS[2]), read_path(DATA / DAMAGED)
    assert records(ours) == records(theirs)
    assert [row["what"] for row in theirs] == [RECORD, UNREADABLE, RECORD, UNREADABLE]
    (_, first, _), (_, second, _) = damage(ours)
    assert first == "a batch whose checksum is wrong"
    assert second.startswith("the tool reports: Found 3 invalid bytes at the end of ")


def test_the_audit_reads_output_like_segments(tmp_path: Path) -> None:
    (tmp_path / "d.txt").write_text(TEXT.replace("\n", "\r\n"))
    assert records(read_path(tmp_path)) == records(read_path(DECODED))
    windows = TEXT.replace("/var/lib/kafka/", "C:\\kafka\\").replace("/0000", "\\0000")
    assert windows != TEXT
    assert records(read_text(windows)) == records(read_path(DECODED))


def test_an_older_tool_prints_no_tags_that_are_newer() -> None:
    """Kafka 3.9.1, of the segment of a broker of 4.3.1."""
    ours = records(read_path(DATA / "decoded-3.9.1.txt"))
    theirs = records(read_path(DATA / BROKER))
    assert len(ours) == len(theirs)
    for row, own in zip(theirs, ours, strict=True):
        assert row | {"value": None} == own | {"value": None}
        assert decode_record(own["key"], own["value"]) == without_tags(
            decode_record(row["key"], row["value"])
        )


def without_tags(record: Record) -> Record:
    """Leave out what Kafka added after 3.9."""
    match record:
        case OffsetCommit():
            return replace(record, topic_id=None)
        case ConsumerGroupMetadata():
            return replace(record, metadata_hash=0)
        case ConsumerGroupTargetAssignmentMetadata():
            return replace(record, computed_at=0)
        case ConsumerGroupCurrentMemberAssignment():
            assigned, revoking = map(without_epochs, (record.assigned, record.revoking))
            return replace(record, assigned=assigned, revoking=revoking)
        case _:
            return record


def without_epochs(
    assigned: tuple[TopicIdPartitions, ...],
) -> tuple[TopicIdPartitions, ...]:
    return tuple(replace(one, epochs=None) for one in assigned)


# What is not asked of the tool.


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            (DATA / "undecoded.txt").read_text(),
            "without --offsets-decoder, which prints keys and values as text",
        ),
        (
            re.sub(r" key: .*", "", TEXT),
            "without the contents of records: print it with --offsets-decoder",
        ),
        (
            "\n".join(line for line in LINES if not line.startswith("|")),
            "without the contents of records: print it with --offsets-decoder",
        ),
        (
            re.sub(r"\| offset: .*? key: ", "| key: ", TEXT),
            "with --skip-record-metadata, which leaves out offsets",
        ),
        (
            "\n".join(line for line in LINES if not line.startswith("Dumping")),
            "the partition: give the whole output, such as of kafka-dump-log.sh",
        ),
        (
            TEXT.replace("/var/lib/kafka/", "").replace("__consumer_offsets-", "x"),
            "without its folder, which states the partition: print it with --files …",
        ),
        (
            (DATA / "decoded-3.7.2.txt").read_text(),
            "before Kafka 3.8, which leaves out subscriptions and more: print it with",
        ),
    ],
)
def test_useless_output_is_refused_with_what_to_do(
    tmp_path: Path, text: str, reason: str
) -> None:
    (tmp_path / "d.txt").write_text(text)
    with pytest.raises(SourceError) as error:
        find_sources([tmp_path / "d.txt"])
    assert reason in str(error.value)
    assert "\n" not in str(error.value)


def test_lines_that_are_useless_for_one_reason_are_one_row() -> None:
    cut = TEXT[TEXT.index("| offset: ") :]  # the first lines are missing
    rows = read_text(cut)
    total = cut[: cut.index("Dumping ")].count("| offset: ")
    (reason,) = (one for one in damage(rows) if "Dumping FILE" in one[1])
    assert reason[::2] == (1, total)
    assert records(rows) == [
        row for row in records(read_path(DECODED)) if row["source_partition"] != 0
    ]


def test_a_segment_of_another_topic_costs_one_row() -> None:
    other = SECTIONS[0].replace("__consumer_offsets-0", "orders-0")
    rows = read_text(other + SECTIONS[1])
    assert damage(rows)[0] == (
        *(1, "a log segment of topic orders, not __consumer_offsets", 1),
    )
    assert records(rows) == records(read_text(SECTIONS[1]))


def test_an_index_is_left_out() -> None:
    index = "Dumping /k/__consumer_offsets-0/00000000000000000000.index\n"
    rows = read_text(index + "offset: 5 position: 100\n" + SECTIONS[1])
    assert records(rows) == records(read_text(SECTIONS[1]))
    assert damage(rows)[0][0] != 2


# Transactions.


def test_records_of_a_transaction_need_the_line_of_their_batch() -> None:
    """A record of a batch whose line is damaged could be of an aborted transaction."""
    lines = RARE_TEXT.splitlines()
    (at,) = (n for n, line in enumerate(lines) if line.startswith("| offset: 9 "))
    lines[at - 1] = lines[at - 1].replace("isTransactional: true", "isTransact")
    rows = read_text("\n".join(lines))
    assert 9 not in [row["source_offset"] for row in records(rows)]
    found = damage(rows)
    assert (at, "a damaged line of a batch", 1) in found
    reason = "a record without a sound line of its batch above"
    assert (at + 1, reason, 1) in found


def test_a_damaged_line_of_a_batch_costs_the_records_of_the_batch() -> None:
    """A marker that cannot be read does not take the next transaction's outcome."""
    sound = records(read_text(TEXT))
    for at in (n for n, line in enumerate(LINES) if line.startswith("baseOffset: ")):
        _, first, _, last, *_ = LINES[at].split()
        lost = range(int(first), int(last) + 1)
        rows = read_text("\n".join([*LINES[:at], LINES[at][:80], *LINES[at + 1 :]]))
        found = records(rows)
        kept = [row for row in sound if row in found or row["source_offset"] in lost]
        assert kept == sound
        assert (at + 1, "a damaged line of a batch", 1) in damage(rows)
        assert all(records == 1 for *_, records in damage(rows))


def test_a_transaction_ends_with_its_segment() -> None:
    """As in segments: what has no end in one counts, and ids are not mixed up."""
    twice = RARE_TEXT + RARE_TEXT.replace("offsets-7", "offsets-8")
    offsets = [row["source_offset"] for row in records(read_text(twice))]
    once = [row["source_offset"] for row in records(read_text(RARE_TEXT))]
    assert offsets == once + once


# Damaged lines.


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('"group":"rare"', '"group":"rar"', "key: 19 bytes as printed, 20 in the log;"),
        ('"group":"rare"', '"group":"raree"', "key: 21 bytes as printed, 20 in the lo"),
        ('"group":"rare"', '"group":rare', "key: damaged JSON"),
        ('"group":"rare"', '"group":["rare"]', "key: group: no text"),
        ('"metadata":"?"', '"metadata":"??"', "payload: 44 bytes as printed, 43 in th"),
        ('"metadata":"?"', '"metadata":"', "payload: not JSON: "),
        ('"offset":103', '"offset":1e3', "payload: offset: no number from"),
        ('"leaderEpoch":4,', "", "payload: no leaderEpoch"),
        (" payload: ", " pay", "no payload, or text between key and payload"),
        ("CreateTime: 17", "CreateTime: x", "a damaged line of a record"),
        ("CreateTime: 17", "CreateTime: 99917", "not a time: "),
        ("offset: 3 C", "offset: 9999999999999999999 C", "an offset above 9223372036"),
        (" headerKeys: []", "", "a damaged line of a record"),
        ('"type":"1"', '"type":"99"', "key: unknown record type 99"),
        ('"version":"4"', '"version":"8"', "payload: version 8, not 0 to 4"),
        (" payload: {", " payload: <DELETE>{", "payload: not JSON: "),
        ("| offset: 3", "| offset: 3\udcff", "not UTF-8"),
        ("| offset: 3", "no line of the tool", "no line of kafka-dump-log"),
    ],
)
def test_a_damaged_line_costs_one_row(old: str, new: str, reason: str) -> None:
    lines = RARE_TEXT.splitlines()
    (at,) = (n for n, line in enumerate(lines) if line.startswith("| offset: 3 "))
    assert old in lines[at]
    lines[at] = lines[at].replace(old, new)
    rows = read_text("\n".join(lines))
    sound = records(read_text(RARE_TEXT))
    assert records(rows) == [row for row in sound if row["source_offset"] != 3]
    (row,) = (row for row in rows if row.get("source_offset") == at + 1)
    assert row["reason"].startswith(reason)
    assert row.get("source_partition") is None
    raw = lines[at].encode(errors="surrogateescape")
    assert (row["what"], row["value"], row["source"]) == (UNREADABLE, raw, "d.txt")


def test_a_tombstone_must_have_been_one() -> None:
    text = re.sub(r"(\| offset: 3 .* payload: ).*", r"\1<DELETE>", RARE_TEXT)
    (row,) = (row for row in read_text(text) if "0 bytes" in row.get("reason", ""))
    assert row["reason"].startswith("payload: 0 bytes as printed, ")


def test_a_shorter_value_has_tags_that_are_not_printed() -> None:
    """A tool can be older than the broker; characters are not lost so."""
    tag = r',"topicId":"[\w-]{22}"'
    text = re.sub(tag, "", RARE_TEXT.replace('"metadata":"?"', '"metadata":"x"'))
    assert text != RARE_TEXT
    (row,) = (row for row in records(read_text(text)) if row["source_offset"] == 3)
    commit = decode_record(row["key"], row["value"])
    assert isinstance(commit, OffsetCommit)
    assert (commit.offset, commit.topic_id) == (103, None)
    lost = re.sub(tag, "", RARE_TEXT)
    (row,) = (row for row in read_text(lost) if "UTF-8" in row.get("reason", ""))
    assert row["reason"].startswith("payload: 25 bytes as printed, 43 in the log; ")


def test_what_the_tool_writes_to_standard_error_is_no_record() -> None:
    more = """\
OpenJDK 64-Bit Server VM warning: something
Non-consecutive offsets in /var/lib/kafka/__consumer_offsets-7/00000000000000000000.log
  3 is followed by 7
Error: it failed
"""
    rows = read_text(RARE_TEXT + more)
    assert records(rows) == records(read_text(RARE_TEXT))
    (row,) = (row for row in rows if row["what"] == SET_ASIDE)
    assert row["reason"] == "the tool reports: Error: it failed"


def test_output_that_is_cut_off_is_used_up_to_there(tmp_path: Path) -> None:
    """The records of open transactions are not lost with what follows."""
    text = TEXT * 4  # beyond the lines by which a file is recognized
    whole = records(read_text(text))
    packed = gzip.compress(text.encode(), mtime=0)
    (tmp_path / "d.gz").write_bytes(packed[: len(packed) - 40])
    rows = read_path(tmp_path / "d.gz")
    found = records(rows)
    ended = [row for row in found if row in whole]
    assert len(whole) - 10 < len(ended) <= len(found) < len(whole)
    assert ended == whole[: len(ended)]
    assert rows[-1]["reason"].startswith("breaks off here: ")


@pytest.mark.heavy
@costly()
@given(st.data())
def test_whatever_is_changed_in_a_line_costs_no_other(data: st.DataObject) -> None:
    at = data.draw(st.sampled_from(RECORD_LINES))
    line = bytearray(LINES[at].encode())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(line) - 1))
        noise = data.draw(st.binary(max_size=3)).replace(b"\n", b"")
        line[place : place + data.draw(st.integers(0, 5))] = noise
    lines = [one.encode() for one in LINES]
    lines[at] = bytes(line)
    numbered = (Line(number=n, text=one) for n, one in enumerate(lines))
    rows = list(rows_of_dump(numbered, "d.txt"))
    changed = int(LINES[at].split()[2])
    found = [row for row in records(rows) if row["source_offset"] != changed]
    sound = records(read_path(DECODED))
    others = [row for row in sound if row["source_offset"] != changed]
    assert [row for row in found if row in others] == others
