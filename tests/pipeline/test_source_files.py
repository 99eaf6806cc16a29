"""Discovery, names, and formats of source files; side files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from pipeline.rows import UNREADABLE
from pipeline.side_files.sidecars import read_offsets, read_topics
from pipeline.sources.find import find_sources
from pipeline.sources.source_kind import SourceKind
from rebalance import OracleError, SourceError
from tests.pipeline.local_reading import read_path
from tests.pipeline.test_sources import LOG, jsonl, what
from tests.support.shapes import CHAIN
from tests.support.wire import RECORDINGS


def test_a_folder_gives_all_its_files_by_name(tmp_path: Path) -> None:
    folder = tmp_path / "history"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "b.jsonl").write_text(jsonl(LOG.records))
    (folder / "a.jsonl").write_text(jsonl(LOG.records))
    (folder / "_SUCCESS").write_text("")
    (folder / ".hidden").write_text("?")
    (folder / "notes.md").write_text("# notes")
    (folder / "notes.txt").write_text("notes")
    (folder / "topics.json").write_text('{"t": 5}')
    found = find_sources([folder, folder / "a.jsonl"])
    assert [file.name for file in found.files] == [
        "history/a.jsonl",
        "history/deep/b.jsonl",
    ]
    assert [error.source for error in found.unknown] == ["history/notes.txt"]
    assert found.side_files == {"topics.json": f"file:{folder}/topics.json"}


def test_files_of_one_name_are_distinguished(tmp_path: Path) -> None:
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "r.jsonl").write_text(jsonl(LOG.records) + name)
    found = find_sources([tmp_path / "x/r.jsonl", tmp_path / "y/r.jsonl"])
    assert [file.name for file in found.files] == ["r.jsonl", "r.jsonl#2"]


def test_a_format_can_be_forced(tmp_path: Path) -> None:
    (tmp_path / "r").write_text("noise\n")
    rows = read_path(tmp_path / "r", source_format="consumer-offsets")
    assert what(rows) == [UNREADABLE]
    with pytest.raises(SourceError, match="known are consumer-offsets, describe"):
        find_sources([tmp_path / "r"], source_format="xml")


def test_damage_at_the_start_does_not_hide_the_format(tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.write_text('{"partition": 0, "offs\nnoise\n' + jsonl(LOG.records))
    assert find_sources([path]).files[0].kind is SourceKind.RECORDS
    path.write_text(orjson.dumps(CHAIN).decode()[:90])
    assert find_sources([path]).files[0].kind is SourceKind.REBALANCES


def test_an_empty_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no such file or folder"):
        find_sources([tmp_path / "absent"])
    with pytest.raises(SourceError, match="no file in it"):
        find_sources([tmp_path])


def test_a_long_line_of_noise_does_not_hide_the_format(tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.write_text("x" * 10_000_000 + "\n" + jsonl(LOG.records))
    assert find_sources([path]).files[0].kind is SourceKind.RECORDS


def test_the_recordings_are_recognised() -> None:
    found = find_sources([RECORDINGS / "churn", RECORDINGS / "first-look"])
    assert {file.name: file.kind for file in found.files} == {
        "churn/consumer_offsets.parquet": SourceKind.RECORDS,
        "first-look/consumer_offsets.jsonl": SourceKind.RECORDS,
    }
    assert set(found.side_files) == {"topics.json", "offsets.json"}


# Side files.


def test_side_files_are_read() -> None:
    assert read_topics(RECORDINGS / "churn/topics.json").at_end["clicks"] == 24
    assert read_offsets(RECORDINGS / "churn/offsets.json").ends["audit"] == {
        0: (0, 455)
    }


def test_partition_counts_have_the_size_limit_of_instances(tmp_path: Path) -> None:
    path = tmp_path / "topics.json"
    path.write_text('{"t": 3, "u": 4}')
    with pytest.raises(OracleError, match="u: 4 partitions, above the limit 3"):
        read_topics(path, 3)
    assert read_topics(path, 4).at_end == {"t": 3, "u": 4}


@pytest.mark.parametrize(
    ("read_file", "text", "where"),
    [
        (read_topics, '{"t": -1}', r"\$.t"),
        (read_topics, '{"t": 1, "t": 2}', "twice"),
        (read_topics, "[1]", "dictionary"),
        (read_topics, "", "JSON"),
        (read_offsets, '{"offsets": {"t": {"x": {}}}}', "pattern"),
        (read_offsets, '{"offsets": {"t": {"0": {"earliest": 0}}}}', "required"),
        (read_offsets, '{"t": 1}', "required"),
    ],
)
def test_a_side_file_that_is_none_is_refused(
    tmp_path: Path, read_file: Callable[[Path], object], text: str, where: str
) -> None:
    path = tmp_path / "side.json"
    path.write_text(text)
    with pytest.raises(OracleError, match=where) as error:
        read_file(path)
    assert str(path) in str(error.value)


def test_a_side_file_that_is_absent_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"absent.json: unreadable"):
        read_topics(tmp_path / "absent.json")
