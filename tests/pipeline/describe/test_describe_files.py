"""Describe texts as files: quarantine rows, broken files, and line ends."""

from __future__ import annotations

import gzip
import resource
from pathlib import Path

import orjson
import pytest

from pipeline.cases import Case
from pipeline.rows import SET_ASIDE, UNREADABLE, Row
from tests.pipeline.describe.describe_text import held, members, offsets, state
from tests.pipeline.local_reading import cases_of, read_path
from tests.pipeline.test_sources import LOG, jsonl, what
from tests.support.shapes import CHAIN, DOUBLE_CLAIM

GOOD = members(("a-1", 1, "t:0"), ("b-1", 1, "t:1"), group="good") + state(
    "Stable", 2, group="good"
)


def by_group(rows: list[Row]) -> dict[str, Case]:
    return {case.group_id: case for case in cases_of(rows)}


@pytest.mark.parametrize("number", [100_000, 1_000_000, 30_000_000, 10**9])
@pytest.mark.parametrize("form", ["members", "plain"])
def test_bug_a_damaged_number_reached_other_groups(
    tmp_path: Path, number: int, form: str
) -> None:
    """A partition number of one group set the topic's size for all groups."""
    bad = (
        members(("x-1", 1, f"t({number})"), group="bad")
        if form == "members"
        else offsets(("t", number, 5, "x-1"), group="bad")
    )
    (tmp_path / "all.txt").write_text(bad + state("Stable", 1, group="bad") + GOOD)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rows = read_path(tmp_path / "all.txt")
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    good = by_group(rows)["good"]
    assert good.least_sizes == {"t": 2}
    assert held(good) == {"a-1": {"t": [0]}, "b-1": {"t": [1]}}
    assert grown < 100_000  # KiB; a set of 10**9 numbers takes 60 GB
    if number > 131_071:
        (refused,) = (row for row in rows if row["what"] == UNREADABLE)
        assert refused["group_id"] == "bad"
        assert "no number up to 131071" in refused["reason"]


@pytest.mark.parametrize("level", ["WARN", "INFO", "ERROR"])
def test_bug_a_log_line_before_the_tables_was_read_as_json(
    tmp_path: Path, level: str
) -> None:
    """Standard error in the same file: its first line begins with a bracket."""
    path = tmp_path / "described.txt"
    for stamp in ("", " ", "\n"):
        path.write_text(
            f"{stamp}[2026-03-01 12:00:00,1] {level} slow (org.a.X)\n{GOOD}"
        )
        assert held(by_group(read_path(path))["good"]) == {
            "a-1": {"t": [0]},
            "b-1": {"t": [1]},
        }


def test_lines_of_one_cause_are_one_row_with_a_count(tmp_path: Path) -> None:
    noise = [f"what is {number}?\n" for number in range(40)]
    error = "Error: Executing consumer group command failed due to timeout\n"
    text = "".join([*noise[:5], GOOD, "\n", error, *noise[5:], "\n", error])
    (tmp_path / "a.txt").write_text(text)
    (tmp_path / "b.txt").write_text("what?\n" + GOOD.replace("good", "also"))
    rows = read_path(tmp_path)
    counted = {
        (row["source"].rsplit("/", 1)[-1], row["record"]): (
            row["records"],
            row["source_offset"],
            row["value"],
        )
        for row in rows
        if row["what"] == SET_ASIDE
    }
    first = 1 + text.count("\n", 0, text.index("Error: "))
    assert counted == {
        ("a.txt", "line"): (len(noise), 1, b"what is 0?"),
        ("a.txt", "message"): (2, first, error.strip().encode()),
        ("b.txt", "line"): (1, 1, b"what?"),
    }
    assert UNREADABLE not in what(rows)


@pytest.mark.heavy
def test_a_broken_file_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    names = [f"{number:04}" for number in range(3000)]
    text = "".join(GOOD.replace("good", name) for name in names)
    packed = gzip.compress(text.encode(), compresslevel=0)  # readable in parts
    (tmp_path / "a-first.txt").write_text(GOOD)
    (tmp_path / "b-broken.txt.gz").write_bytes(packed[: len(packed) // 2])
    (tmp_path / "c-last.txt").write_text(GOOD.replace("good", "last"))
    rows = read_path(tmp_path)
    broken = [row for row in rows if "breaks off" in (row.get("reason") or "")]
    assert [row["source"].rsplit("/", 1)[-1] for row in broken] == ["b-broken.txt.gz"]
    assert {"good", "last", "0000"} <= by_group(rows).keys()
    assert "2999" not in by_group(rows)


def test_files_without_a_last_line_feed_are_read_completely(tmp_path: Path) -> None:
    texts = {
        "describe.txt": GOOD.encode(),
        "records.jsonl": jsonl(LOG.records).encode(),
        "documents.jsonl": b"".join(
            orjson.dumps(document) + b"\n" for document in (CHAIN, DOUBLE_CLAIM)
        ),
    }
    for name, text in texts.items():
        assert text.endswith(b"\n")
        for pack in (bytes, gzip.compress):
            path = tmp_path / name
            path.write_bytes(pack(text))
            whole = read_path(path)
            path.write_bytes(pack(text.rstrip(b"\n")))
            assert read_path(path) == whole
            assert UNREADABLE not in what(whole)
