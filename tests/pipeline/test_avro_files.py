"""Records as Avro: sound files, other columns, and damage."""

from __future__ import annotations

import base64
import io
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.rows import RECORD, UNREADABLE, Row
from pipeline.sources.avro_files import rows_of_avro
from pipeline.sources.find import find_sources
from pipeline.sources.record_format import AS_SPARK, record_format
from pipeline.sources.source_file import FileLayout
from tests.pipeline.local_reading import read_path
from tests.pipeline.test_sources import LOG, jsonl

TIME = {"type": "long", "logicalType": "timestamp-millis"}
KINDS: dict[str, Any] = {
    "key": "bytes",
    "value": ["null", "bytes"],
    "partition": "int",
    "offset": "long",
    "timestamp": TIME,
}


def records(**named: str) -> list[dict[str, Any]]:
    """Return the records of the log with bytes and times, under other names."""
    return [
        {
            named.get("key", "key"): bytes.fromhex(row["key"]),
            named.get("value", "value"): bytes.fromhex(row["value"]),
            "partition": row["partition"],
            "offset": row["offset"],
            "timestamp": datetime(1970, 1, 1, tzinfo=UTC)
            + timedelta(milliseconds=row["timestamp"]),
        }
        for row in LOG.records
    ]


def avro(
    rows: list[dict[str, Any]],
    codec: str = "null",
    interval: int = 16_000,
    **kinds: Any,
) -> bytes:
    fields = [
        {"name": name, "type": kinds.get(name, KINDS.get(name, "bytes"))}
        for name in rows[0]
    ]
    file = io.BytesIO()
    schema = {"type": "record", "name": "r", "fields": fields}
    fastavro.writer(file, schema, rows, codec=codec, sync_interval=interval)
    return file.getvalue()


def written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def without_source(rows: list[Row]) -> list[Row]:
    return [row | {"source": ""} for row in rows]


@pytest.mark.parametrize("codec", ["null", "deflate"])
def test_avro_and_json_lines_give_equal_rows(tmp_path: Path, codec: str) -> None:
    (tmp_path / "r.jsonl").write_text(jsonl(LOG.records))
    path = written(tmp_path / "r.avro", avro(records(), codec))
    assert find_sources([path]).files[0].layout is FileLayout.AVRO
    assert without_source(read_path(path)) == without_source(
        read_path(tmp_path / "r.jsonl")
    )


def test_columns_have_other_names_and_are_encoded(tmp_path: Path) -> None:
    rows = records(key="k", value="payload")
    for row in rows:
        row["k"] = base64.b64encode(row["k"]).decode()
        row["payload"] = base64.b64encode(row["payload"]).decode()
        row["timestamp"] = int(row["timestamp"].timestamp() * 1000)
    data = avro(rows, k="string", payload="string", timestamp="long")
    expected = read_path(written(tmp_path / "r.avro", avro(records())))
    path = written(tmp_path / "r.avro", data)
    for encoding in ("base64", None):
        form = record_format("key=k,value=payload", encoding)
        assert read_path(path, written=form) == expected


def test_a_tombstone_is_a_null_value(tmp_path: Path) -> None:
    (first, *_) = records()
    (row,) = rows_of_avro(avro([first | {"value": None}]), "s", AS_SPARK)
    assert (row["what"], row["value"]) == (RECORD, None)


def test_what_is_no_record_is_quarantined(tmp_path: Path) -> None:
    (first, second, *_) = records()
    data = avro([first | {"offset": None}, second], offset=["null", "long"])
    rows = list(rows_of_avro(data, "s", AS_SPARK))
    assert [row["what"] for row in rows] == [UNREADABLE, RECORD]
    assert rows[0]["reason"] == "partition or offset missing or out of range"
    assert rows[0]["source_offset"] == 1


@given(st.data())
def test_a_file_that_breaks_off_is_used_up_to_there(data: st.DataObject) -> None:
    whole = avro(records(), interval=1)  # one block per record
    read = list(rows_of_avro(whole, "s", AS_SPARK))
    cut = data.draw(st.integers(0, len(whole) - 1))
    rows = list(rows_of_avro(whole[:cut], "s", AS_SPARK))
    sound = [row for row in rows if row["what"] == RECORD]
    assert sound == read[: len(sound)]
    ends_with_a_block = whole[:cut].endswith(whole[-16:])
    assert (len(rows) > len(sound)) != ends_with_a_block
