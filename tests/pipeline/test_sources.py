"""Reading of source files in splits, and the effect of damage."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.files.lines import Line, read_lines
from pipeline.records.record_times import milliseconds
from pipeline.rows import (
    CASE,
    RAW_LIMIT,
    RECORD,
    REPEATED,
    TOPIC,
    UNREADABLE,
    Row,
    batches_of,
    keyed,
)
from pipeline.sources.find import find_sources
from pipeline.sources.record_lines import row_of_line
from rebalance import rebalance_of
from rebalance.arrow import to_table
from tests.pipeline.groups import START_MS, Log, commit, group, member
from tests.pipeline.local_reading import read_found, read_path
from tests.pipeline.recorded import reconstructed
from tests.support.shapes import CHAIN, DOUBLE_CLAIM

LOG = Log().add(
    commit("t", 4, 10),
    group(1, member("a", ["t"], {"t": [0, 1]})),
    group(2, member("a", ["t"], {"t": [0]}), member("b", ["t"], {"t": [1]})),
)


def jsonl(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def parquet(path: Path, rows: list[dict[str, Any]], **replaced: pa.Array) -> None:
    columns: dict[str, pa.Array] = {
        "key": pa.array([bytes.fromhex(row["key"]) for row in rows]),
        "value": pa.array([bytes.fromhex(row["value"]) for row in rows]),
        "partition": pa.array([row["partition"] for row in rows], pa.int32()),
        "offset": pa.array([row["offset"] for row in rows], pa.int64()),
        "timestamp": pa.array([row["timestamp"] for row in rows], pa.int64()),
    } | replaced
    pq.write_table(pa.table(columns), path)


def what(rows: list[Row]) -> list[str]:
    return [row["what"] for row in rows]


@pytest.mark.parametrize("indent", [None, 1])
def test_a_document_above_the_size_limit_is_quarantined(
    tmp_path: Path, indent: int | None
) -> None:
    path = tmp_path / "r.json"
    path.write_text(json.dumps(CHAIN, indent=indent))
    partitions = sum(topic["partitions"] for topic in CHAIN["topics"].values())
    found = find_sources([path])
    (row,) = read_found(found, partitions - 1)
    assert row["what"] == UNREADABLE
    assert "partitions up to here, above the limit" in row["reason"]
    (row,) = read_found(found, partitions)
    assert row["what"] == CASE


# Records, good ones.


def test_json_lines_and_parquet_give_equal_rows(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text(jsonl(LOG.records))
    (tmp_path / "r.jsonl.gz").write_bytes(gzip.compress(jsonl(LOG.records).encode()))
    parquet(tmp_path / "r.parquet", LOG.records)
    stamps = pa.array([row["timestamp"] for row in LOG.records], pa.timestamp("ms"))
    micros = stamps.cast(pa.timestamp("us", tz="UTC"))
    parquet(tmp_path / "r2.parquet", LOG.records, timestamp=micros)
    found = [
        [row | {"source": ""} for row in read_path(path)]
        for path in sorted(tmp_path.iterdir())
    ]
    assert len(found) == 4
    assert all(rows == found[0] for rows in found)
    assert what(found[0]) == [RECORD] * 3
    assert found[0][1]["source_offset"] == 1
    assert found[0][1]["at"] == START_MS + 1000
    assert found[0][1]["group_id"] == "orders"


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        (START_MS, START_MS),
        (str(START_MS), START_MS),
        ("2023-11-14 22:13:20.5", START_MS + 500),
        ("2023-11-14T23:13:20+01:00", START_MS),
        (None, None),
        (-1, None),
    ],
)
def test_times(written: object, read_as: int | None) -> None:
    assert milliseconds(written) == read_as


@pytest.mark.parametrize("written", ["yesterday", 1.5, True, 10**18, [1]])
def test_times_that_are_none(written: object) -> None:
    with pytest.raises(ValueError, match=r".+"):
        milliseconds(written)


def test_a_line_past_the_limit_is_reported_by_its_start(tmp_path: Path) -> None:
    path = tmp_path / "long"
    path.write_bytes(b"a" * 99 + b"\n" + b"b" * 10 + b"\nc")
    found = [(n.number, n.text, n.whole) for n in read_lines(path.open("rb"), limit=10)]
    assert found == [
        (1, b"a" * 10, False),
        (2, b"b" * 10, True),
        (3, b"c", True),
    ]


# Records, damaged.


def spoiled(**change: object) -> list[dict[str, Any]]:
    first, second, third = LOG.records
    return [first, second | change, third]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"key": "zz"}, "key is not hex"),
        ({"value": "0"}, "value is not hex"),
        ({"value": 7}, "value is not a text"),
        ({"key": None}, "a record without one"),
        ({"key": ""}, "key"),
        ({"key": "7fff0001"}, "unknown record type"),
        ({"partition": -1}, "partition is not a number"),
        ({"offset": 1.5}, "offset is not a number"),
        ({"offset": True}, "offset is not a number"),
        ({"timestamp": "soon"}, "not a time"),
        ({"topic": "orders"}, "topic 'orders'"),
    ],
)
def test_a_bad_record_costs_one_row(
    tmp_path: Path, change: dict[str, Any], reason: str
) -> None:
    (tmp_path / "r.jsonl").write_text(jsonl(spoiled(**change)))
    rows = read_path(tmp_path / "r.jsonl")
    assert what(rows) == [RECORD, UNREADABLE, RECORD]
    assert reason in rows[1]["reason"]
    assert rows[1]["raw_bytes"] == len(rows[1]["value"] or b"") + len(
        rows[1].get("key") or b""
    )


def test_a_missing_field_is_named(tmp_path: Path) -> None:
    rows = [dict(row) for row in LOG.records]
    del rows[1]["offset"]
    (tmp_path / "r.jsonl").write_text(jsonl(rows))
    found = read_path(tmp_path / "r.jsonl")
    assert found[1]["reason"] == "no offset"
    assert found[1]["source_offset"] == 2


@pytest.mark.parametrize("noise", [b"\x00\xff\xfe", b"[1]", b'"x"', b"{", b"nul"])
def test_a_line_that_is_no_record_costs_one_row(tmp_path: Path, noise: bytes) -> None:
    text = jsonl(LOG.records).encode()
    (tmp_path / "r.jsonl").write_bytes(noise + b"\n\n" + text)
    rows = read_path(tmp_path / "r.jsonl")
    assert what(rows) == [UNREADABLE, *[RECORD] * 3]
    assert rows[0]["value"] == noise
    assert rows[0]["source_offset"] == 1


def test_ten_megabytes_of_one_line_cost_one_row(tmp_path: Path) -> None:
    text = jsonl(LOG.records[:2]) + "x" * 10_000_000 + "\n" + jsonl(LOG.records[2:])
    (tmp_path / "r.jsonl").write_text(text)
    rows = read_path(tmp_path / "r.jsonl")
    assert what(rows) == [RECORD, RECORD, UNREADABLE, RECORD]
    assert rows[2]["raw_bytes"] == 10_000_000
    assert len(rows[2]["value"]) == RAW_LIMIT


def test_a_truncated_gzip_yields_the_records_before_the_cut(tmp_path: Path) -> None:
    noise = [
        row | {"offset": i, "value": f"{i:064x}"}
        for i, row in enumerate(LOG.records * 2_000)
    ]
    packed = gzip.compress(jsonl(noise).encode())
    (tmp_path / "r.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    rows = read_path(tmp_path / "r.jsonl.gz")
    assert rows[-1]["what"] == UNREADABLE
    assert "breaks off" in rows[-1]["reason"]
    assert what(rows).count(RECORD) > 500


def test_bad_rows_of_parquet_are_numbered(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    parquet(
        path,
        LOG.records,
        offset=pa.array([0, None, -5], pa.int64()),
        key=pa.array([None, b"\x00\x02\x00\x01g", b"\x00\x02\x00\x01g"]),
    )
    rows = read_path(path)
    assert what(rows) == [UNREADABLE] * 3
    assert [row["source_offset"] for row in rows] == [1, 2, 3]
    assert "without one" in rows[0]["reason"]
    assert "out of range" in rows[1]["reason"]


@given(st.binary(max_size=60), st.binary(max_size=60))
def test_any_bytes_are_read_or_set_apart(key: bytes, value: bytes) -> None:
    log = Log().put(key, value).add(group(1, member("a", ["t"], {"t": [0]})))
    found = reconstructed([_row(record) for record in log.records])
    assert CASE in what(found)
    list(batches_of(found))


def _row(record: dict[str, Any]) -> Row:
    row = row_of_line(Line(number=1, text=orjson.dumps(record)), "s")
    return keyed(row) if row["what"] == RECORD else row


def stream(log: Log, *more: Log) -> list[Row]:
    records = [record for part in (log, *more) for record in part.records]
    return reconstructed([_row(record) for record in records])


def test_a_record_read_twice_counts_once() -> None:
    once, twice = stream(LOG), stream(LOG, LOG)
    assert what(twice) == [*what(once), REPEATED]
    assert twice[-1]["records"] == len(LOG.records)


def test_two_records_at_one_offset_contradict_each_other() -> None:
    other = Log().add(commit("t", 4, 11))
    found = stream(LOG, other, other)
    assert what(found).count(UNREADABLE) == 1
    (bad,) = (row for row in found if row["what"] == UNREADABLE)
    assert "at an offset already read" in bad["reason"]
    assert what(found).count(CASE) == 2
    assert [row["records"] for row in found if row["what"] == REPEATED] == [1]


def test_topics_are_as_large_as_assignments_and_commits_say() -> None:
    log = Log().add(
        commit("t", 4, 10),
        commit("t", 2**31 - 1, 10),  # damage
        group(1, member("a", ["u"], {"u": [7]}, owns={"u": [1000]}, generation=0)),
    )
    topics = {r["record"]: r["records"] for r in stream(log) if r["what"] == TOPIC}
    assert topics == {"t": 5, "u": 8}


# Documents.


def test_documents_in_lines_in_one_piece_and_in_parquet(tmp_path: Path) -> None:
    documents = [CHAIN, DOUBLE_CLAIM]
    lines = b"\n".join(orjson.dumps(document) for document in documents)
    (tmp_path / "a.jsonl").write_bytes(lines)
    (tmp_path / "b.json").write_bytes(orjson.dumps(CHAIN, option=orjson.OPT_INDENT_2))
    table = to_table([rebalance_of(document) for document in documents])
    pq.write_table(table, tmp_path / "c.parquet")
    found = [read_path(path) for path in sorted(tmp_path.iterdir())]
    assert [what(rows) for rows in found] == [[CASE] * 2, [CASE], [CASE] * 2]
    texts = [[orjson.loads(row["value"])["document"] for row in rows] for rows in found]
    assert texts[0] == texts[2]
    assert texts[1] == texts[0][:1]
    ids = [orjson.loads(row["value"])["rebalance_id"] for row in found[0]]
    assert ids == ["a.jsonl:1", "a.jsonl:2"]


def test_a_bad_document_costs_one_row(tmp_path: Path) -> None:
    newer = CHAIN | {"format": "rebalance/2"}
    twice = (
        b'{"format":"rebalance/1","group":"g","topics":{},"members":{"a":{},"a":{}}}'
    )
    lines = [orjson.dumps(document) for document in (CHAIN, newer, DOUBLE_CLAIM)]
    (tmp_path / "a.jsonl").write_bytes(b"\n".join([*lines[:2], twice, lines[2]]))
    rows = read_path(tmp_path / "a.jsonl")
    assert what(rows) == [CASE, UNREADABLE, UNREADABLE, CASE]
    assert rows[1]["reason"].startswith("$.format")
    assert rows[2]["reason"] == "$.members.a: key given twice"
    assert rows[2]["source_offset"] == 3
