"""Files of Kafka Connect's S3 sink as a source: sound, damaged, and refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.cases import Case
from pipeline.history.stream import NO_TOMBSTONES
from pipeline.rows import (
    CASE,
    SET_ASIDE,
    WITHOUT_TOMBSTONES,
    Row,
)
from pipeline.sources.file_links import linked
from pipeline.sources.find import find_sources
from pipeline.sources.record_format import record_format
from pipeline.sources.sink_names import SinkRole, sink_name
from pipeline.sources.source_file import FileLayout
from tests.pipeline.consumer_groups import FIRST, JOIN, gone, rebuild_rows, rows_of
from tests.pipeline.groups import group, member
from tests.pipeline.local_reading import cases_of, read_path, read_paths
from tests.pipeline.recorded import churn_records, in_order, reconstructed
from tests.pipeline.sink_files import (
    FORMS,
    LOGGED,
    STEM,
    churn,
    parquet_of,
    place_of,
    write_sink,
)
from tests.pipeline.test_sources import LOG, jsonl
from tests.pipeline.test_spark_rows import comparable


def plain(rows: list[Row]) -> list[str]:
    """Return rows in the order of offsets, without their sources."""
    return comparable([{**row, "record": None} for row in rows], source="")


# What the sink writes.


@pytest.mark.parametrize("keys_form", [*FORMS, "parquet"])
@pytest.mark.parametrize("form", FORMS)
def test_a_pair_has_the_rows_of_its_records(
    tmp_path: Path, form: str, keys_form: str
) -> None:
    shown = write_sink(tmp_path, LOGGED, form=form, keys_form=keys_form, flush_size=2)
    expected = read_path(parquet_of(tmp_path / "r.parquet", shown))
    rows = read_path(tmp_path / "topics")
    assert plain(rows) == plain(expected)
    assert {row["record"] for row in rows} == {WITHOUT_TOMBSTONES}
    names = [path.name for path in sorted(place_of(tmp_path).iterdir())]
    assert names == sorted(
        f"__consumer_offsets+0+{start:010}.{end}"
        for start in (0, 2)
        for end in (form, f"keys.{keys_form}")
    )
    folder = "topics/__consumer_offsets/partition=0"
    sources = {row["source"] for row in rows}
    assert sources == {f"{folder}/{name}" for name in names if ".keys." not in name}


@pytest.mark.heavy
def test_a_recording_has_the_same_rebalances_of_classic_groups(tmp_path: Path) -> None:
    """Of groups of the new protocol, members that left would stay: none is judged."""
    shown = write_sink(tmp_path, churn(), flush_size=700)
    rows = read_path(tmp_path / "topics")
    assert plain(rows) == plain(read_path(parquet_of(tmp_path / "r.parquet", shown)))
    found = reconstructed(rows)
    log = [{**row, "at": None} for row in churn_records()]
    ours, theirs = classic_cases(found), classic_cases(reconstructed(log))
    assert ours == theirs
    assert len(ours) > 400
    assert sum(row["what"] == CASE for row in found) == len(ours)
    quarantined = [row for row in found if row["what"] == SET_ASIDE]
    assert {row["reason"] for row in quarantined} == {NO_TOMBSTONES}
    new = sum(1 for row in rows if 3 <= int.from_bytes(row["key"][:2], "big") <= 16)
    assert sum(row["records"] for row in quarantined) == new > 1_000


def classic_cases(rows: list[Row]) -> dict[tuple[str | None, int | None], Case]:
    """Return the cases of classic groups, without sources and offsets."""
    return {
        (case.group_id, case.generation): replace(
            case,
            rebalance_id="",
            source="",
            source_offset=None,
            episode_id="",
            episode=case.episode and replace(case.episode, episode_id="", source=""),
        )
        for case in cases_of(rows)
        if case.protocol == "classic"
    }


@pytest.mark.parametrize("form", FORMS)
def test_wrapped_values_have_offsets_times_and_tombstones(
    tmp_path: Path, form: str
) -> None:
    """``HoistField`` and ``InsertField``: the rows are those of the log."""
    log = [
        {
            "partition": 7,
            "offset": row["source_offset"] * 3,  # compaction has left gaps
            "timestamp": row["at"],
            "key": row["key"],
            "value": row["value"],
        }
        for row in rows_of(*FIRST, *JOIN, *gone("b"))
    ]
    assert any(record["value"] is None for record in log)
    write_sink(tmp_path, log, form=form, flush_size=4, is_wrapped=True)
    expected = read_path(parquet_of(tmp_path / "r.parquet", log))
    rows = read_path(tmp_path / "topics")
    assert plain(rows) == plain(expected)
    assert {row.get("record") for row in rows} == {None}
    cases, others = rebuild_rows(in_order(rows)), rebuild_rows(in_order(expected))
    assert len(cases.cases) == len(others.cases) == 2
    assert cases.quarantined == others.quarantined == []


def test_wrapped_values_can_have_other_names(tmp_path: Path) -> None:
    write_sink(tmp_path, LOGGED, is_wrapped=True)
    path = place_of(tmp_path) / f"{STEM}.json"
    path.write_text(path.read_text().replace('"value"', '"payload"'))
    rows = read_path(tmp_path / "topics", written=record_format("value=payload", None))
    expected = read_path(parquet_of(tmp_path / "r.parquet", LOGGED))
    assert plain(rows) == plain(expected)


def test_a_null_in_its_place_is_a_tombstone(tmp_path: Path) -> None:
    write_sink(tmp_path, LOGGED)
    path = place_of(tmp_path) / f"{STEM}.json"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], "null", lines[2]]))
    rows = read_path(tmp_path)
    assert [row["value"] is None for row in rows] == [False, True, False]
    assert [row["source_offset"] for row in rows] == [0, 1, 2]


def test_values_that_have_their_keys_with_them_need_no_file_of_keys(
    tmp_path: Path,
) -> None:
    write_sink(tmp_path, LOGGED)
    (place_of(tmp_path) / f"{STEM}.json").write_text(jsonl(LOG.records))
    found = find_sources([tmp_path])
    assert [file.layout for file in found.files] == [FileLayout.LINES]
    assert found.unknown == []
    expected = read_path(parquet_of(tmp_path / "r.parquet", LOGGED))
    assert plain(read_path(tmp_path / "topics")) == plain(expected)


def test_headers_are_ignored_and_two_files_can_be_named(tmp_path: Path) -> None:
    write_sink(tmp_path, LOGGED)
    place = place_of(tmp_path)
    (place / f"{STEM}.headers.json").write_text('{"headers":[]}\n')
    found = find_sources([tmp_path])
    assert len(found.files) == 2
    assert found.unknown == []
    files = [place / f"{STEM}.json", place / f"{STEM}.keys.json"]
    assert plain(read_paths(files)) == plain(read_path(tmp_path))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (f"{STEM}.json", (SinkRole.VALUES, 0, 0)),
        ("__consumer_offsets+49+0000001234.keys.json.gz", (SinkRole.KEYS, 49, 1234)),
        ("__consumer_offsets+7+12.snappy.parquet", (SinkRole.VALUES, 7, 12)),
        ("__consumer_offsets+7+12.headers.avro", (SinkRole.HEADERS, 7, 12)),
        ("orders+7+0000000012.json", None),
        ("__consumer_offsets+7.json", None),
        ("__consumer_offsets+7+99999999999999999999.json", None),
        (f"__consumer_offsets+{2**31}+0.json", None),
    ],
)
def test_names(name: str, expected: tuple[SinkRole, int, int] | None) -> None:
    found = sink_name(f"s3a://bucket/topics/{name}")
    stated = found and (found.role, found.partition, found.start)
    assert stated == expected


# Links.


def test_a_link_leads_to_each_file_that_spark_would_skip_or_unpack() -> None:
    uris = [
        "s3a://bucket/a b/_1+é%20.json",
        "hdfs://name:8020/t/2.gz",
        "hdfs://name:8020/t/.3.parquet",
        "s3a://bucket/plain.json",
    ]
    read, settings = linked(uris)
    (table,) = {read[uri].rpartition("/")[0] for uri in uris[:3]}
    assert [read[uri] for uri in uris] == [f"{table}/{n}" for n in range(3)] + uris[3:]
    prefix = f"fs.viewfs.mounttable.{table.removeprefix('viewfs://')}.link./"
    assert settings == {
        f"{prefix}0": "s3a://bucket/a%20b/_1%2B%C3%A9%2520.json",
        f"{prefix}1": "hdfs://name:8020/t/2.gz",
        f"{prefix}2": "hdfs://name:8020/t/.3.parquet",
    }
    others, _ = linked(uris[:1])
    assert others[uris[0]] != read[uris[0]]  # Hadoop keeps a table by its name
    assert linked(uris[3:]) == ({uris[3]: uris[3]}, {})


# Histories.


def quarantined(rows: list[Row]) -> list[Row]:
    return [{**row, "record": WITHOUT_TOMBSTONES} for row in rows]


def test_groups_of_the_new_protocol_need_tombstones() -> None:
    """Without those of a member that left, its target would be judged as present."""
    rows = rows_of(*FIRST, *JOIN)
    assert len(rebuild_rows(rows).cases) == 2
    found = rebuild_rows(quarantined(rows))
    assert found.cases == []
    kinds = {row["record"]: row["records"] for row in found.quarantined}
    assert kinds == {
        "ConsumerGroupCurrentMemberAssignment": 2,
        "ConsumerGroupMemberMetadata": 2,
        "ConsumerGroupMetadata": 2,
        "ConsumerGroupTargetAssignmentMember": 3,
        "ConsumerGroupTargetAssignmentMetadata": 2,
    }
    assert {row["reason"] for row in found.quarantined} == {NO_TOMBSTONES}


def test_a_group_that_becomes_classic_takes_its_assignment_along() -> None:
    """The copy of the target is no rebalance; the next generation is."""
    a, b = (member(name, ["t"], {"t": [at]}) for at, name in enumerate("ab"))
    rows = rows_of(*FIRST, *JOIN, group(3, a, b), group(4, a))
    cases = rebuild_rows(quarantined(rows)).cases
    assert [case.generation for case in cases] == [4]
    assert cases[0].left == 1
    begun_anew = rows_of(*FIRST, group(0), group(1, a))
    cases = rebuild_rows(quarantined(begun_anew)).cases
    assert [case.generation for case in cases] == [1]
