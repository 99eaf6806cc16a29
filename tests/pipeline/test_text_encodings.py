"""Texts in UTF-16, as PowerShell's ``>`` writes, and UTF-8 with a byte-order mark."""

from __future__ import annotations

import codecs
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.files import LocalStore, Stores
from pipeline.files.lines import read_lines
from pipeline.rows import CASE, UNREADABLE
from pipeline.side_files.lag_metrics import read_lag_metrics
from pipeline.side_files.sidecars import read_offsets, read_topics
from pipeline.sources import source_file, source_pieces
from pipeline.sources.find import find_sources
from pipeline.sources.source_pieces import pieces_of
from tests.pipeline.describe.describe_text import members, state
from tests.pipeline.local_reading import read_found, read_path
from tests.pipeline.test_sources import LOG, jsonl, what
from tests.support.shapes import CHAIN, DOUBLE_CLAIM

GROUP = "größe-日本-😀"
DOCUMENT = CHAIN | {"group": GROUP}
DESCRIBE = members(("a-1", 1, "t:0"), ("b-1", 1, "t:1"), group=GROUP) + state(
    "Stable", 2, group=GROUP
)
TEXTS = {
    "describe": DESCRIBE,
    "records": jsonl(LOG.records),
    "document": json.dumps(DOCUMENT, indent=1, ensure_ascii=False) + "\n",
    "documents": "".join(
        json.dumps(document, ensure_ascii=False) + "\n"
        for document in (DOCUMENT, DOUBLE_CLAIM)
    ),
}
ENCODINGS: dict[str, Callable[[str], bytes]] = {
    "utf-8-sig": lambda text: text.encode("utf-8-sig"),
    "utf-16-le": lambda text: codecs.BOM_UTF16_LE + text.encode("utf-16-le"),
    "utf-16-be": lambda text: codecs.BOM_UTF16_BE + text.encode("utf-16-be"),
}
MARKED, LITTLE = ENCODINGS["utf-8-sig"], ENCODINGS["utf-16-le"]
DIVIDED = ("records", "documents")
packed_or_not = pytest.mark.parametrize("pack", [bytes, gzip.compress])
in_each_encoding = pytest.mark.parametrize(
    "encode", ENCODINGS.values(), ids=ENCODINGS.keys()
)


@packed_or_not
@in_each_encoding
@pytest.mark.parametrize("kind", TEXTS)
def test_every_text_is_read_in_every_encoding(
    kind: str,
    encode: Callable[[str], bytes],
    pack: Callable[[bytes], bytes],
    tmp_path: Path,
) -> None:
    text = TEXTS[kind]
    path = tmp_path / "text"
    path.write_bytes(text.encode())
    whole = read_path(path)
    assert {"case", "record"} & set(what(whole))
    for ends in (text, text.replace("\n", "\r\n")):
        path.write_bytes(pack(encode(ends)))
        assert read_path(path) == whole


@packed_or_not
def test_utf16_that_ends_within_a_character_is_read_up_to_there(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "records"
    path.write_bytes(pack(LITTLE(jsonl(LOG.records))[:-7]))
    *sound, cut = read_path(path)
    path.write_text(jsonl(LOG.records))
    assert sound == read_path(path)[:-1]
    assert cut["what"] == UNREADABLE
    assert cut["value"].endswith("\ufffd".encode())


def test_half_of_a_pair_is_no_character() -> None:
    """Long enough for several blocks, and with a pair at every place."""
    text = "ab" * 700_000 + "😀" * 400_000 + "\n"
    for shift in ("", "x"):
        data = LITTLE(shift + text) + b"\x00\xd8\n\x00" + b"z"
        found = [line.text.decode() for line in read_lines(io.BytesIO(data))]
        assert found == [shift + text[:-1], "\ufffd", "\ufffd"]


def test_packed_utf16_that_breaks_off_is_read_up_to_there(tmp_path: Path) -> None:
    text = "".join(jsonl(LOG.records) for _ in range(2_000))
    path = tmp_path / "records"
    data = gzip.compress(LITTLE(text), compresslevel=0)
    path.write_bytes(data[: len(data) // 2])
    rows = read_path(path)
    assert rows[-1]["reason"].startswith("breaks off here: ")
    assert len(rows) > 2_500


def test_only_the_first_line_has_a_mark() -> None:
    """Spark passes the lines of a large file one by one, each with its number."""
    lines = [b"\xef\xbb\xbfa", b"\xef\xbb\xbfb", b"\xff\xfec", b"\x1f\x8bd"]
    whole = [line.text for line in read_lines(io.BytesIO(b"\n".join(lines)))]
    apart = [
        line.text
        for number, text in enumerate(lines, start=1)
        for line in read_lines(io.BytesIO(text), first=number)
    ]
    assert whole == apart == [b"a", *lines[1:]]


@pytest.mark.parametrize("name", ["text", "text.gz"])
@pytest.mark.parametrize("kind", TEXTS)
def test_a_large_text_is_divided_unless_its_lines_are_not_in_the_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, name: str
) -> None:
    """Between the line ends of UTF-16, there are halves of characters."""
    path = tmp_path / name
    pack = gzip.compress if name.endswith(".gz") else bytes
    path.write_bytes(TEXTS[kind].encode())
    lines = len(path.read_bytes().splitlines()) if kind in DIVIDED else 1
    whole = read_path(path)
    monkeypatch.setattr(source_file, "LARGE", 1)
    monkeypatch.setattr(source_pieces, "BLOCK_BYTES", 8)
    for encode in (str.encode, *ENCODINGS.values()):
        path.write_bytes(pack(encode(TEXTS[kind])))
        found = find_sources([path])
        is_plain = pack is bytes and encode in (str.encode, MARKED)
        assert len(pieces_of(found.files)) == (lines if is_plain else 1)
        assert read_found(found) == whole


@in_each_encoding
def test_side_files_are_read_in_every_encoding(
    tmp_path: Path, encode: Callable[[str], bytes]
) -> None:
    ends = {"t": {"0": {"earliest": 0, "latest": 9}}}
    lag = 'kafka_consumergroup_lag{consumergroup="g",partition="0",topic="t"} 5\n'
    (tmp_path / "topics.json").write_bytes(encode('{"t": 2}\r\n'))
    (tmp_path / "offsets.json").write_bytes(encode(json.dumps({"offsets": ends})))
    (tmp_path / "lag.prom").write_bytes(encode(lag))
    (tmp_path / "text").write_bytes(encode(DESCRIBE))
    assert read_topics(tmp_path / "topics.json").at_end == {"t": 2}
    assert read_offsets(tmp_path / "offsets.json").ends == {"t": {0: (0, 9)}}
    stores = Stores(LocalStore(), LocalStore)
    read = read_lag_metrics([tmp_path / "lag.prom"], stores)
    assert read.lags == {"g": {"t": {0: 5}}}
    assert CASE in what(read_path(tmp_path / "text"))
