"""Tables of a store, night after night, are those of one audit of the whole."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pipeline.nights import store_files
from pipeline.tables import SCHEMAS, read_table
from rebalance import SourceError
from tests.pipeline.local_audit import local_audit
from tests.pipeline.nights.local_nights import local_night
from tests.support.wire import RECORDINGS

SOURCE = RECORDINGS / "first-look"
TOPICS = SOURCE / "topics.json"
ASSIGNORS = ["range"]

Record = dict[str, Any]


def recorded() -> list[Record]:
    lines = (SOURCE / "consumer_offsets.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def night_of(folder: Path, number: int, records: Sequence[Record]) -> Path:
    """Write the records of a night into a folder of their own."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{number}.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def divided(records: list[Record], rng: Random, count: int) -> list[list[Record]]:
    """Divide records into nights, at an offset of its own in each partition."""
    cuts: dict[int, list[int]] = {}
    for record in records:
        cuts.setdefault(record["partition"], []).append(record["offset"])
    for partition, offsets in cuts.items():
        cuts[partition] = sorted(rng.choices(offsets, k=count - 1))
    nights: list[list[Record]] = [[] for _ in range(count)]
    for record in records:
        before = (cut <= record["offset"] for cut in cuts[record["partition"]])
        nights[sum(before)].append(record)
    return nights


def rows_of(out: Path, name: str, ignored: Sequence[str] = ()) -> Counter[str]:
    """Count the rows of a table, as text without some columns."""
    rows = read_table(out, name).drop_columns([*ignored]).to_pylist()
    return Counter(repr(row) for row in rows)


def check_tables(found: Path, expected: Path, **ignored: Sequence[str]) -> None:
    for name in SCHEMAS:
        left = rows_of(found, name, ignored.get(name, ()))
        right = rows_of(expected, name, ignored.get(name, ()))
        assert left == right, name


@pytest.mark.parametrize(
    ("seed", "count", "most"), [(0, 3, store_files.MOST_NIGHTS), (1, 7, 1)]
)
def test_nights_of_the_recording(
    seed: int, count: int, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some nights at any offsets; the source of each row is the file of its night.

    In the second case, their files are merged at once.
    """
    monkeypatch.setattr(store_files, "MOST_NIGHTS", most)
    records, rng = recorded(), Random(seed)  # noqa: S311
    options: dict[str, Any] = {"topics": TOPICS, "assignors": ASSIGNORS}
    store, out = tmp_path / "store", tmp_path / "out"
    for number, night in enumerate(divided(records, rng, count)):
        path = night_of(tmp_path / "nights", number, night)
        told = local_night([path], store, out, **options)
        assert not told
    whole = night_of(tmp_path / "whole", 0, records)
    local_audit([whole], tmp_path / "expected", **options)
    named = ("rebalances", "answers", "episodes", "quarantine")
    ignored = {name: ["source"] for name in named}
    check_tables(out, tmp_path / "expected", **ignored)
    names = [path.name for path in (store / "tables").rglob("*.parquet")]
    is_merged = any(name.startswith(store_files.MERGED) for name in names)
    assert is_merged == (most == 1)
    # Once more, with all files: nothing is added.
    before = (store / "store.json").read_bytes()
    files = sorted(path for path in store.rglob("*") if path.is_file())
    local_night([tmp_path / "nights"], store, out, **options)
    assert (store / "store.json").read_bytes() == before
    assert sorted(path for path in store.rglob("*") if path.is_file()) == files
    check_tables(out, tmp_path / "expected", **ignored)


def test_sources_without_offsets_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "groups.txt"
    path.write_text(
        "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST "
        "CLIENT-ID\ng t 0 1 1 0 m-1 /127.0.0.1 c\n"
    )
    with pytest.raises(SourceError, match="has no offsets"):
        local_night([path], tmp_path / "store", tmp_path / "out")


def test_damaged_lines_count_once(tmp_path: Path) -> None:
    """A line without an offset is found again, if its file has grown."""
    records = recorded()
    path = night_of(tmp_path / "nights", 0, records[:300])
    text = path.read_text() + "{damaged\n"
    path.write_text(text)
    store, out = tmp_path / "store", tmp_path / "out"
    for count in (300, 310):
        path.write_text(
            text + "".join(json.dumps(row) + "\n" for row in records[300:count])
        )
        local_night([path], store, out, topics=TOPICS, assignors=ASSIGNORS)
        kinds = Counter(read_table(out, "quarantine")["kind"].to_pylist())
        assert kinds["unreadable"] == 1
    state = json.loads((store / "store.json").read_bytes())
    assert [audit["records"] for audit in state["audits"]] == [300, 10]


def test_other_options_are_refused(tmp_path: Path) -> None:
    path = night_of(tmp_path / "nights", 0, recorded()[:300])
    store, out = tmp_path / "store", tmp_path / "out"
    local_night([path], store, out, assignors=ASSIGNORS)
    with pytest.raises(
        SourceError, match="range, not actual, optimum, range, sticky: give"
    ):
        local_night([path], store, out, assignors=[*ASSIGNORS, "sticky"])


def test_another_log_is_refused(tmp_path: Path) -> None:
    """Later records at offsets that were read: the topic was created again."""
    records = recorded()
    store, out = tmp_path / "store", tmp_path / "out"
    first = night_of(tmp_path / "nights", 0, records[:300])
    local_night([first], store, out, assignors=ASSIGNORS)
    again = [row | {"timestamp": "2027-01-01 00:00:00.000"} for row in records[:9]]
    second = night_of(tmp_path / "nights", 1, again)
    with pytest.raises(SourceError, match="give another --history"):
        local_night([second], store, out, assignors=ASSIGNORS)


def test_offsets_between_two_nights_are_missing(tmp_path: Path) -> None:
    records = [record for record in recorded() if record["partition"] == 0]
    store, out = tmp_path / "store", tmp_path / "out"
    for number, part in enumerate((records[:20], records[23:])):
        path = night_of(tmp_path / "nights", number, part)
        told = local_night([path], store, out, assignors=ASSIGNORS)
    gap = records[23]["offset"] - records[19]["offset"] - 1
    assert [line.split(" of ")[0] for line in told] == [f"{gap} offsets"]
    rows = read_table(out, "quarantine").to_pylist()
    (row,) = [row for row in rows if row["record"] == "offset"]
    assert (row["kind"], row["records"], row["source_partition"]) == ("missing", gap, 0)
