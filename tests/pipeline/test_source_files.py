"""Discovery, names, and formats of source files; side files."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.sources.find import find_sources
from pipeline.sources.rows import UNREADABLE
from pipeline.sources.sidecars import read_offsets, read_topics
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


def _no_rows(path: Path) -> None:
    pq.write_table(pa.table({"key": pa.array([], pa.binary())}), path)


def _no_value(path: Path) -> None:
    pq.write_table(pa.table({"key": [b""], "partition": [0], "offset": [0]}), path)


def _text_key(path: Path) -> None:
    columns = {"key": [""], "value": [b""], "partition": [0], "offset": [0]}
    pq.write_table(pa.table(columns), path)


@pytest.mark.parametrize(
    ("write", "reason"),
    [
        (lambda path: path.write_bytes(b""), "an empty file"),
        (lambda path: path.write_bytes(b"\n \n"), "an empty file"),
        (lambda path: path.write_bytes(b"GIF89a\x00\x01"), "unknown format"),
        (lambda path: path.write_bytes(b'{"orders": 3}'), "--topics"),
        (lambda path: path.write_bytes(b'{"offsets": {}}'), "--offsets"),
        (lambda path: path.write_bytes(b"\x1f\x8b\x08junk"), "unreadable"),
        (lambda path: path.write_bytes(b"PAR1 and no more"), "unreadable Parquet"),
        (_no_value, "Parquet without column value"),
        (_no_rows, "Parquet without column"),
        (_text_key, "column key is string, not binary"),
    ],
)
def test_a_file_that_is_no_source_is_named(
    tmp_path: Path, write: Callable[[Path], object], reason: str
) -> None:
    path = tmp_path / "odd"
    write(path)
    with pytest.raises(SourceError, match=reason) as error:
        find_sources([path])
    assert error.value.source == "odd"
    good = tmp_path / "good.jsonl"
    good.write_text(jsonl(LOG.records))
    found = find_sources([tmp_path])
    assert [file.name.rsplit("/")[-1] for file in found.files] == ["good.jsonl"]
    assert len(found.unknown) == 1


FRANZ_GO_PLAN = (
    'Feb 21, 2023 @ 15:16:57.304\t{"level":"info","caller":"kgo.go:317","msg":"balance '
    'group member","id":"p-0b29"}\nFeb 21, 2023 @ 15:16:57.304\t{"level":"info",'
    '"msg":"balanced","plan":"p-08cd{notify.v3[1 32]}, p-0b29{}"}\n'
)
AKHQ = {
    "id": "orders",
    "state": "STABLE",
    "members": [{"consumerId": "c1", "assignments": [{"topic": "t", "partition": 0}]}],
    "offsets": [{"topic": "t", "partition": 0, "offset": 5}],
}
KAFKA_NODE = {"orders": {"groupId": "orders", "members": [], "state": "Stable"}}
COMMANDS = "kafka-console-consumer --bootstrap-server"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            FRANZ_GO_PLAN,
            "a plan in the log of franz-go, which states neither the group",
        ),
        (
            orjson.dumps(AKHQ).decode(),
            "JSON about groups in a form of another tool",
        ),
        (
            orjson.dumps(KAFKA_NODE, option=orjson.OPT_INDENT_2).decode(),
            "JSON about groups in a form of another tool",
        ),
    ],
)
def test_output_of_other_tools_is_refused_with_a_command(
    tmp_path: Path, text: str, reason: str
) -> None:
    path = tmp_path / "groups"
    path.write_text(text)
    with pytest.raises(SourceError) as error:
        find_sources([path])
    assert error.value.reason.startswith(reason)
    assert COMMANDS in error.value.reason
    assert "--columns" not in error.value.reason


DUMPED = (
    "Dumping /var/lib/kafka/__consumer_offsets-0/00000000000000000000.log",
    "Log starting offset: 0",
    "baseOffset: 0 lastOffset: 0 count: 1 baseSequence: -1 lastSequence: -1",
    "| offset: 0 CreateTime: 1 keySize: 10 valueSize: -1 sequence: -1 headerKeys: []",
    '| key: {"type":"2","data":{"group":"g"}} payload: <DELETE>',
)


@pytest.mark.parametrize("line", DUMPED)
@pytest.mark.parametrize("source_format", [None, "consumer-offsets"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_what_is_printed_of_segments_is_refused_with_what_to_give(
    tmp_path: Path, line: str, source_format: str | None, pack: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "dump.txt"
    path.write_bytes(pack(f"Error: noise\n{line}\n".encode()))
    with pytest.raises(SourceError) as error:
        find_sources([path], source_format=source_format)
    assert error.value.reason == (
        "output of kafka-dump-log, which is not read: give the log segments that it "
        "printed, the files *.log in their folders (__consumer_offsets-PARTITION)"
    )


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ('{"k": "0002000167", "v": "00"}', "--columns"),
        ('{"k": "AAIAAWc=", "v": null}', "--columns"),
        ('{"a": "x", "b": 1}', None),
        ('{"t": 3, "u": 1}', "--topics"),
        ('{"t": true}', None),
        ("{}", None),
    ],
)
def test_a_hint_names_only_an_option_that_could_help(
    tmp_path: Path, text: str, hint: str | None
) -> None:
    path = tmp_path / "odd"
    path.write_text(text)
    with pytest.raises(SourceError) as error:
        find_sources([path])
    before, _, _ = error.value.reason.partition("; accepted are")
    options = {
        option for option in ("--columns", "--topics", "--offsets") if option in before
    }
    assert options == ({hint} if hint else set())


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
