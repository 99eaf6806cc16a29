"""Output of ``kafka-dump-log`` as a source: the rows of the segments it printed."""

from __future__ import annotations

import gzip
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from conformance.broker import dump_log, running_broker
from pipeline.records import (
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupMemberMetadata,
    ConsumerGroupMetadata,
    ConsumerGroupRecord,
    ConsumerGroupTargetAssignmentMember,
    GroupMetadata,
    OffsetCommit,
    Record,
    TopicIdPartitions,
    decode_record,
)
from pipeline.session import spark_session
from pipeline.sources import source_file, spark_tables
from pipeline.sources.dump_files import rows_of_dump
from pipeline.sources.find import find_sources
from pipeline.sources.lines import Line
from pipeline.sources.rows import RECORD, SET_ASIDE, UNREADABLE, Row
from pipeline.sources.source_file import FileLayout
from rebalance import SourceError
from rebalance.protocol import (
    MemberAssignment,
    Subscription,
    encode_assignment,
    encode_subscription,
)
from tests.pipeline.dumped_groups import (
    BROKER,
    DAMAGED,
    DATA,
    RARE,
    fill,
    segment_of,
)
from tests.pipeline.local_reading import read_path
from tests.pipeline.test_log_segments import batch, segment
from tests.pipeline.test_spark_rows import by_spark, comparable
from tests.records.consumer_writers import consumer_key, consumer_value
from tests.records.strategies import consumer_records, groups, offset_commits
from tests.records.writers import group_key, group_value, offset_key, offset_value
from tests.wire_strategies import assignments, subscriptions

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
            "without the line 'Dumping FILE' above, which states the partition",
        ),
        (
            TEXT.replace("/var/lib/kafka/", "").replace("__consumer_offsets-", "x"),
            "without its folder, which states the partition: print it with --files …",
        ),
        (
            re.sub(
                r"key: \{.*",
                "key: offset_commit::group=g,partition=orders-1 payload: offset=5",
                TEXT,
            ),
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


# Spark, and the real tool.


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    session = spark_session("local[2]")
    yield session
    session.stop()


@pytest.mark.slow
def test_blocks_of_large_output_do_not_matter(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file and the batch of a record are known in any partitioning."""
    rng = random.Random(3)  # noqa: S311
    lines = TEXT.splitlines(keepends=True)
    for at in rng.sample(RECORD_LINES, 5):
        lines[at] = lines[at][: rng.randrange(len(lines[at]))] + "\n"
    (tmp_path / "d.txt").write_text("".join(lines))
    (tmp_path / "other.txt.gz").write_bytes(gzip.compress(TEXT.encode()))
    (tmp_path / "segments").mkdir()
    segment(tmp_path / "segments", (DATA / RARE / f"{0:020}.log").read_bytes())
    whole = comparable(read_path(tmp_path))
    assert comparable(by_spark(spark, tmp_path)) == whole
    monkeypatch.setattr(source_file, "LARGE", 1)
    monkeypatch.setattr(spark_tables, "BLOCK_BYTES", 5_000)
    assert comparable(by_spark(spark, tmp_path, tasks=1)) == whole
    assert comparable(by_spark(spark, tmp_path, tasks=7)) == whole


@pytest.mark.slow
def test_the_real_tool_on_a_real_segment() -> None:
    with running_broker() as broker:
        fill(broker)
        segments = [segment_of(broker)]
        theirs = records(read_path(segments[0]))
        printed = read_text(dump_log(segments))
        lossy = read_text(dump_log(segments, encoding="US-ASCII"))
    assert records(printed) == theirs
    assert damage(printed) == []
    kinds = {type(decode_record(row["key"], row["value"])) for row in theirs}
    assert {OffsetCommit, GroupMetadata, ConsumerGroupMemberMetadata} <= kinds
    # Names that an encoding cannot express are not read as others.
    plain = [row for row in theirs if "ü".encode() not in row["key"]]
    assert records(lossy) == plain
    assert len(damage(lossy)) == len(theirs) - len(plain) > 0
    assert all("print it in a locale of UTF-8" in one[1] for one in damage(lossy))


@pytest.mark.slow
def test_the_real_tool_on_random_records(tmp_path: Path) -> None:
    """What Kafka prints of records that no broker here writes."""
    drawn: list[tuple[bytes, bytes | None]] = []

    @given(
        offset_commits(), groups(), consumer_records(), subscriptions(), assignments()
    )
    def draw(
        commit: OffsetCommit,
        group: GroupMetadata,
        record: ConsumerGroupRecord,
        subscription: Subscription,
        assignment: MemberAssignment,
    ) -> None:
        members = replace(
            group,
            protocol_type="consumer",
            members=tuple(
                replace(
                    member,
                    subscription=encode_subscription(subscription),
                    assignment=encode_assignment(assignment),
                )
                for member in group.members
            ),
        )
        drawn.extend(
            (
                (offset_key(commit), offset_value(commit)),
                (group_key(group.group_id), group_value(group)),
                (group_key(members.group_id), group_value(members)),
                (consumer_key(record), consumer_value(as_in_kafka(record))),
            )
        )

    draw()
    parts = [
        {
            "key": key.hex(),
            "value": None if value is None else value.hex(),
            "timestamp": 1,
            "offset": offset,
        }
        for offset, (key, value) in enumerate(drawn)
    ]
    path = segment(tmp_path, b"".join(batch([part]) for part in parts))
    rows = read_text(dump_log([path]))
    assert damage(rows) == []
    assert len(records(rows)) == len(drawn) > 100
    for row, (key, value) in zip(records(rows), drawn, strict=True):
        ours = decode_record(row["key"], row["value"])
        theirs = decode_record(key, value)
        assert without_versions(ours) == without_versions(theirs)


def as_in_kafka(record: ConsumerGroupRecord) -> ConsumerGroupRecord:
    """Leave out the tags that the tool, Kafka 4.3.1, does not know."""
    if isinstance(record, ConsumerGroupMetadata):
        return replace(record, creation_time=-1)
    if isinstance(record, ConsumerGroupTargetAssignmentMember):
        return replace(record, assigned=without_epochs(record.assigned))
    if isinstance(record, ConsumerGroupCurrentMemberAssignment):
        assigned, revoking = map(without_epochs, (record.assigned, record.revoking))
        return replace(record, assigned=assigned, revoking=revoking)
    return record


def without_epochs(
    assigned: tuple[TopicIdPartitions, ...],
) -> tuple[TopicIdPartitions, ...]:
    return tuple(replace(one, epochs=None) for one in assigned)


def without_versions(record: Record) -> Record:
    """Leave out the version of each assignment, which is not printed."""
    if not isinstance(record, GroupMetadata) or record.protocol_type != "consumer":
        return record
    members = (
        replace(member, assignment=member.assignment[2:]) for member in record.members
    )
    return replace(record, members=tuple(members))
