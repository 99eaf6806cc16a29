"""Files of Kafka Connect's S3 sink as a source: sound, damaged, and refused."""

from __future__ import annotations

import base64
import gzip
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.cases import Case
from pipeline.history.stream import NO_TOMBSTONES
from pipeline.rows import (
    CASE,
    RECORD,
    SET_ASIDE,
    UNREADABLE,
    WITHOUT_TOMBSTONES,
    Row,
)
from pipeline.sources import source_file
from pipeline.sources.file_links import linked
from pipeline.sources.find import find_sources
from pipeline.sources.record_format import record_format
from pipeline.sources.sink_names import SinkForm, SinkPart, SinkRole, sink_name
from pipeline.sources.sink_rows import NO_KEY, NO_VALUE, rows_of_pair
from pipeline.sources.source_file import FileLayout, SourceFile
from pipeline.sources.source_kind import SourceKind
from rebalance import SourceError
from tests.pipeline.consumer_groups import FIRST, JOIN, gone, rebuild_rows, rows_of
from tests.pipeline.groups import group, member
from tests.pipeline.local_reading import cases_of, read_path, read_paths
from tests.pipeline.recorded import CHURN, churn_records, in_order, reconstructed
from tests.pipeline.sink_files import (
    LOGGED,
    Record,
    parquet_of,
    write_sink,
    written_as,
)
from tests.pipeline.test_sources import LOG, jsonl
from tests.pipeline.test_spark_rows import comparable
from tests.support.snapshots import check_snapshot

STEM = "__consumer_offsets+0+0000000000"
FORMS = ["json", "json.gz", "avro"]


def place_of(folder: Path, partition: int = 0) -> Path:
    return folder / "topics" / "__consumer_offsets" / f"partition={partition}"


def plain(rows: list[Row]) -> list[str]:
    """Return rows in the order of offsets, without their sources."""
    return comparable([{**row, "record": None} for row in rows], source="")


def records(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row["what"] == RECORD]


def damage(rows: list[Row]) -> list[tuple[str, str, int, str, int]]:
    """Return kind, source, line, reason, and number of each row of quarantine."""
    return [
        (
            row["what"],
            row["source"].rpartition("/")[2],
            row["source_offset"],
            row["reason"],
            row["records"],
        )
        for row in rows
        if row["what"] != RECORD
    ]


def churn() -> list[Record]:
    rows: list[Record] = pq.read_table(CHURN / "consumer_offsets.parquet").to_pylist()
    return rows


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


# What is missing or damaged.


def values_without_keys(place: Path) -> None:
    write_sink(place.parents[2], LOGGED, flush_size=2)
    (place / f"{STEM}.keys.json").unlink()


def keys_alone(place: Path) -> None:
    """``behavior.on.null.values=write`` writes them into a folder of their own."""
    alone = place.parent / "tombstone"
    alone.mkdir()
    keys = [record["key"] for record in LOGGED[:2]]
    name = "__consumer_offsets+0+0000000001.keys.avro"
    (alone / name).write_bytes(written_as("avro", keys))


def fewer_keys(place: Path) -> None:
    keys = written_as("json", [LOGGED[0]["key"]])
    (place / f"{STEM}.keys.json").write_bytes(keys)


def fewer_values(place: Path) -> None:
    values = written_as("json", [record["value"] for record in LOGGED[:2]])
    (place / f"{STEM}.json").write_bytes(values)


def other_keys(place: Path) -> None:
    unknown = base64.b64encode(b"\0\x63key")
    text = b"\n".join([b'"a key"', b"null", b'"' + unknown + b'"'])
    (place / f"{STEM}.keys.json").write_bytes(text)


def joined_lines(place: Path) -> None:
    """After the damage, keys would belong to the values of others."""
    path = place / f"{STEM}.json"
    path.write_bytes(path.read_bytes().replace(b"\n", b"", 1))


def files_that_overlap(place: Path) -> None:
    """Files of a partitioner by time can be open at once."""
    for end in ("json", "keys.json"):
        path = place / f"__consumer_offsets+0+0000000001.{end}"
        shutil.copy(place / f"{STEM}.{end}", path)


def a_file_in_two_forms(place: Path) -> None:
    packed = gzip.compress((place / f"{STEM}.json").read_bytes())
    (place / f"{STEM}.json.gz").write_bytes(packed)


def binary_files(place: Path) -> None:
    (place / f"{STEM}.json").unlink()
    (place / f"{STEM}.bin").write_bytes(b"\n".join(r["value"] for r in LOGGED))


def line(text: bytes) -> Callable[[Path], None]:
    """Return what replaces the second value."""

    def change(place: Path) -> None:
        path = place / f"{STEM}.json"
        lines = path.read_bytes().splitlines()
        path.write_bytes(b"\n".join([lines[0], text, lines[2], b"", b""]))

    return change


DAMAGE: dict[str, Callable[[Path], None]] = {
    "values without keys": values_without_keys,
    "keys alone": keys_alone,
    "fewer keys": fewer_keys,
    "fewer values": fewer_values,
    "other keys": other_keys,
    "joined lines": joined_lines,
    "files that overlap": files_that_overlap,
    "a file in two forms": a_file_in_two_forms,
    "binary files": binary_files,
    "a cut line": line(b'"AAEA'),
    "a number": line(b"5"),
    "an empty line": line(b""),
    "no base64": line(b'"AAE?"'),
    "an object": line(b'{"x":"AAEA"}'),
}


def told(folder: Path) -> Iterator[str]:
    try:
        found = find_sources([folder])
    except SourceError as error:
        yield f"  refused: {error}\n"
        return
    yield from (f"  unknown: {error}\n" for error in found.unknown)
    for row in read_path(folder):
        if row["what"] == RECORD:
            number = TRUE.index((row["key"], row["value"]))
            yield f"  offset {row['source_offset']}: record {number}\n"
    yield from (
        f"  {' '.join(map(str, entry))}\n" for entry in damage(read_path(folder))
    )


def test_what_is_damaged_costs_only_itself(tmp_path: Path) -> None:
    text = ""
    for name, change in DAMAGE.items():
        folder = tmp_path / name / "sink"
        write_sink(folder, LOGGED)
        change(place_of(folder))
        text += f"{name}\n{''.join(told(folder))}"
    check_snapshot("sink-files.txt", text)


@pytest.mark.parametrize("form", FORMS)
def test_a_shorter_file_costs_what_is_missing(tmp_path: Path, form: str) -> None:
    write_sink(tmp_path, LOGGED, form=form)
    keys = place_of(tmp_path) / f"{STEM}.keys.{form}"
    keys.write_bytes(written_as(form, [LOGGED[0]["key"]]))
    rows = read_path(tmp_path)
    assert [row["source_offset"] for row in records(rows)] == [0]
    assert damage(rows) == [(UNREADABLE, f"{STEM}.{form}", 2, NO_KEY, 2)]


@pytest.mark.parametrize("form", ["json.gz", "avro"])
def test_a_file_that_breaks_off_is_used_up_to_there(tmp_path: Path, form: str) -> None:
    log = [record for record in churn() if record["partition"] == 1][:1_500]
    shown = write_sink(tmp_path, log, form=form)
    (path,) = place_of(tmp_path, 1).glob(f"*[0-9].{form}")
    path.write_bytes(path.read_bytes()[:-40])
    rows = read_path(tmp_path)
    assert any("breaks off here: " in reason for *_, reason, _ in damage(rows))
    kept = [row["value"] for row in records(rows)]
    assert kept == [record["value"] for record in shown[: len(kept)]]
    assert len(kept) > 200
    missing = [count for *_, reason, count in damage(rows) if reason == NO_VALUE]
    assert len(kept) + sum(missing) in (len(shown), len(shown) - 1)


def test_too_large_a_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_sink(tmp_path, LOGGED)
    monkeypatch.setattr(source_file, "WHOLE_LIMIT", 10)
    with pytest.raises(SourceError, match="a file of Kafka Connect's sink, larger"):
        find_sources([tmp_path])


def in_pair(contents: dict[str, bytes]) -> Iterator[tuple[SourceFile, bytes]]:
    """Yield files in JSON, by the ends of their names."""
    for end, text in contents.items():
        uri = f"file:/t/{STEM}.{end}"
        name = sink_name(uri)
        assert name is not None
        part = SinkPart(name=name, form=SinkForm.JSON, pair="p")
        file = SourceFile(
            name=end,
            uri=uri,
            kind=SourceKind.RECORDS,
            layout=FileLayout.SINK,
            length=len(text),
            modified_ms=0,
            sink=part,
        )
        yield file, text


CONTENTS = {
    "json": written_as("json", [record["value"] for record in LOGGED]),
    "keys.json": written_as("json", [record["key"] for record in LOGGED]),
}
TRUE = [(record["key"], record["value"]) for record in LOGGED]


@given(st.sampled_from(sorted(CONTENTS)), st.data())
def test_of_a_file_that_is_cut_off_the_start_is_used(
    end: str, data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(CONTENTS[end])))
    rows = list(rows_of_pair(in_pair({**CONTENTS, end: CONTENTS[end][:cut]})))
    read = [(row["key"], row["value"]) for row in records(rows)]
    assert read == TRUE[: len(read)]
    assert len(read) >= CONTENTS[end].count(b"\n", 0, cut)
    assert len(read) + sum(count for *_, count in damage(rows)) == len(TRUE)


@given(st.sampled_from(sorted(CONTENTS)), st.integers(0, 2), st.data())
def test_damage_in_a_line_costs_no_other(
    end: str, number: int, data: st.DataObject
) -> None:
    lines = CONTENTS[end].split(b"\n")
    changed = data.draw(st.binary(max_size=9).filter(lambda noise: b"\n" not in noise))
    at = data.draw(st.integers(1, len(lines[number])))
    lines[number] = lines[number][:at] + changed + lines[number][at + len(changed) :]
    rows = list(rows_of_pair(in_pair({**CONTENTS, end: b"\n".join(lines)})))
    read = {row["source_offset"]: (row["key"], row["value"]) for row in records(rows)}
    for offset, pair in enumerate(TRUE):
        assert offset == number or read[offset] == pair
    assert len(rows) == len(TRUE)


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_arbitrary_bytes_end_in_quarantine(first: bytes, second: bytes) -> None:
    rows = list(rows_of_pair(in_pair({"json": first, "keys.json": second})))
    assert all(row["what"] in (UNREADABLE, SET_ASIDE) for row in rows)


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
