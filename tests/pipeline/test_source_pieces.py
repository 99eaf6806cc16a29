"""Large texts are read in pieces, with the rows and the line numbers of the whole."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from pipeline.rows import UNREADABLE
from pipeline.sources import source_file, source_pieces
from pipeline.sources.find import find_sources
from pipeline.sources.source_pieces import pieces_of
from tests.pipeline.local_reading import damage, read_found, read_path
from tests.pipeline.test_sources import LOG, jsonl


def noisy_lines() -> list[str]:
    """Return records of many lengths, among them lines that are none."""
    rng = random.Random(5)  # noqa: S311
    records = [
        row | {"offset": 3 * i + n, "value": row["value"] + "00" * rng.randrange(90)}
        for i in range(40)
        for n, row in enumerate(LOG.records)
    ]
    lines = jsonl(records).splitlines(keepends=True)
    for at in range(0, len(lines), 20):
        lines[at] = "noise" * rng.randrange(1, 400) + "\n"
    return lines


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("ends", ["\n", "\r\n\n", ""])
def test_pieces_are_of_whole_lines_with_their_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoding: str, ends: str
) -> None:
    path = tmp_path / "r.jsonl"
    text = "".join(noisy_lines()).removesuffix("\n") + ends
    path.write_bytes(text.encode(encoding))
    whole = read_path(path)
    monkeypatch.setattr(source_file, "LARGE", 1)
    for size in (1, 700, 6_000, path.stat().st_size, 1 << 20):
        monkeypatch.setattr(source_pieces, "BLOCK_BYTES", size)
        found = find_sources([path])
        pieces = [piece for (piece,) in pieces_of(found.files)]
        assert sum(piece.length for piece in pieces) == path.stat().st_size
        assert all(piece.length >= size for piece in pieces[:-1])
        assert read_found(found) == whole


def test_a_line_above_the_limit_is_cut_off_and_numbered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = jsonl(LOG.records).encode()
    path = tmp_path / "r.jsonl"
    path.write_bytes(text * 3 + b"x" * 30_000 + b"\n" + b"bad\n" + text)
    monkeypatch.setattr(source_file, "LARGE", 1)
    monkeypatch.setattr(source_pieces, "BLOCK_BYTES", 5_000)
    monkeypatch.setattr(source_pieces, "LINE_LIMIT", 20_000)
    rows = read_path(path)
    assert [place for place, _, _ in damage(rows)] == [10, 11]
    assert damage(rows)[0][1] == "a line too long to be read"
    assert [row["raw_bytes"] for row in rows if row["what"] == UNREADABLE] == [
        20_000,
        3,
    ]
    assert len(rows) == 14


def test_a_text_that_is_gone_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(jsonl(LOG.records))
    found = find_sources([path])
    path.unlink()
    for large in (1 << 20, 1):
        monkeypatch.setattr(source_file, "LARGE", large)
        ((place, reason, _),) = damage(read_found(found))
        assert place is None
        assert reason.startswith("breaks off here: [Errno 2] No such file or directory")
