"""Damaged and missing files of Kafka Connect's S3 sink cost only themselves."""

from __future__ import annotations

import base64
import gzip
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.rows import (
    RECORD,
    SET_ASIDE,
    UNREADABLE,
)
from pipeline.sources import source_file
from pipeline.sources.find import find_sources
from pipeline.sources.sink_names import SinkForm, SinkPart, sink_name
from pipeline.sources.sink_rows import NO_KEY, NO_VALUE, rows_of_pair
from pipeline.sources.source_file import FileLayout, SourceFile
from pipeline.sources.source_kind import SourceKind
from rebalance import SourceError
from tests.pipeline.local_reading import read_path
from tests.pipeline.sink_files import (
    FORMS,
    LOGGED,
    STEM,
    churn,
    damage,
    place_of,
    records,
    write_sink,
    written_as,
)
from tests.support.snapshots import check_snapshot


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
