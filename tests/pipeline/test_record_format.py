"""Names and encodings of the columns of records."""

from __future__ import annotations

import base64
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.rows import RECORD, UNREADABLE
from pipeline.sources.find import find_sources
from pipeline.sources.record_format import Encoding, encoding_of_key, record_format
from rebalance import SourceError
from tests.pipeline.local_reading import read_path
from tests.pipeline.test_sources import LOG, jsonl, what


def in_base64(text: str) -> str:
    return base64.b64encode(bytes.fromhex(text)).decode()


RENAMED = [
    {
        "k": in_base64(row["key"]),
        "payload": in_base64(row["value"]),
        "kafka_partition": row["partition"],
        "kafka_offset": row["offset"],
        "at": row["timestamp"],
    }
    for row in LOG.records
]
NAMES = "key=k,value=payload,partition=kafka_partition,offset=kafka_offset,timestamp=at"


def test_renamed_columns_in_base64_are_the_same_records(tmp_path: Path) -> None:
    (tmp_path / "a").write_text(jsonl(LOG.records))
    (tmp_path / "b").write_text(jsonl(RENAMED))
    ours = [row | {"source": ""} for row in read_path(tmp_path / "a")]
    for encoding in ("base64", None):
        written = record_format(NAMES, encoding)
        rows = read_path(tmp_path / "b", written=written)
        assert [row | {"source": ""} for row in rows] == ours
    assert (
        what(read_path(tmp_path / "b", written=record_format(NAMES, "hex")))
        == [UNREADABLE] * 3
    )


def test_one_bad_text_costs_one_record(tmp_path: Path) -> None:
    rows = [RENAMED[0], RENAMED[1] | {"payload": "?"}, RENAMED[2]]
    (tmp_path / "b").write_text(jsonl(rows))
    found = read_path(tmp_path / "b", written=record_format(NAMES, None))
    assert what(found) == [RECORD, UNREADABLE, RECORD]
    assert found[1]["reason"] == "payload is not base64"
    assert found[1]["source_offset"] == 2


@pytest.mark.parametrize(
    ("columns", "encoding", "reason"),
    [
        (
            "value",
            None,
            "'value' is not a pair such as value=payload; columns are part",
        ),
        ("", None, "'' is not a pair"),
        ("value=", None, "'value=' is not a pair"),
        ("worth=payload", None, "'worth=payload' is not a pair"),
        ("key=a,key=b", None, "column key is named twice"),
        (None, "utf-8", "no such encoding: 'utf-8'; known are bytes, hex, base64"),
    ],
)
def test_wrong_options_are_named(
    columns: str | None, encoding: str | None, reason: str
) -> None:
    with pytest.raises(SourceError, match=reason):
        record_format(columns, encoding)


def test_the_first_key_shows_the_encoding() -> None:
    for version in range(4):
        key = bytes([0, version]) + b"group"
        assert encoding_of_key(key.hex()) is Encoding.HEX
        assert encoding_of_key(base64.b64encode(key).decode()) is Encoding.BASE64
    assert encoding_of_key("orders") is None
    assert encoding_of_key(None) is None


def test_text_in_parquet_needs_an_encoding(tmp_path: Path) -> None:
    columns = {"key": ["0002"], "value": ["00"], "partition": [0], "offset": [0]}
    pq.write_table(pa.table(columns), tmp_path / "r.parquet")
    with pytest.raises(SourceError, match="is string, not binary"):
        find_sources([tmp_path])
    assert len(find_sources([tmp_path], written=record_format(None, "hex")).files) == 1
