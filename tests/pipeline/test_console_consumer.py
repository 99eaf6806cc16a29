"""What ``kafka-console-consumer`` prints, as a source: the rows of the log itself."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.broker import Broker
from pipeline.cases import REPORTED, Case
from pipeline.files.lines import Line
from pipeline.groups.local_files import LocalFiles
from pipeline.rows import RECORD, REPEATED, UNREADABLE, Row
from pipeline.sources.console_json import rows_of_console_json
from pipeline.sources.console_lines import (
    COMMAND,
    row_of_console_line,
)
from pipeline.sources.find import find_sources
from tests.pipeline.console_output import DATA, printed
from tests.pipeline.describe.describe_text import offsets
from tests.pipeline.local_reading import (
    cases_of,
    damage,
    read_path,
    read_paths,
    records,
)
from tests.pipeline.logged_groups import BROKER, NAME, fill, segment_of
from tests.pipeline.recorded import reconstructed

TEXT, GROUPS, OFFSETS = (
    DATA / name for name in ("records.txt", "groups.json", "offsets.json")
)
JSON_GROUPS = GROUPS.read_text()
OBJECTS = [f'{{"key"{part}' for part in JSON_GROUPS.split('{"key"')[1:]]

Bytes = tuple[bytes, bytes | None]


def by_group(rows: Iterable[Row], *types: int) -> dict[str, list[Bytes]]:
    """Return key and value of the records of these types, in order."""
    found: dict[str, list[Bytes]] = {}
    of_records = (row for row in rows if row["what"] == RECORD)
    for row in sorted(of_records, key=lambda row: row["source_offset"]):
        if int.from_bytes(row["key"][:2]) in types:
            key_and_value = row["key"], row["value"]
            found.setdefault(row["group_id"], []).append(key_and_value)
    return found


def cases(rows: Iterable[Row]) -> list[Case]:
    return cases_of(reconstructed([*rows]))


def without_places(found: list[Case]) -> list[Case]:
    """Leave out source, offset, and times: the formatters do not print them.

    The groups of the tool itself ended after it had printed them.
    """
    return [
        replace(
            case,
            rebalance_id="",
            source="",
            source_partition=None,
            source_offset=None,
            at=None,
            until=None,
            lasted_unknown=None,
            ended="" if case.group_id.startswith("console-") else case.ended,
            episode_id=None,
            episode=None
            if case.episode is None
            else replace(
                case.episode,
                episode_id="",
                source="",
                started_at=None,
                unowned_partition_ms=None,
            ),
        )
        for case in found
    ]


def of_json(*texts: str) -> list[Row]:
    return list(
        rows_of_console_json(
            (f"{n}.json", text.encode()) for n, text in enumerate(texts)
        )
    )


# Lines with all bytes.


def test_lines_have_the_rows_of_the_segment() -> None:
    rows = read_path(TEXT)
    theirs = records(read_path(DATA / BROKER))
    assert damage(rows) == []
    assert records(rows) == theirs[: len(records(rows))]
    assert len(theirs) - len(records(rows)) <= 8  # of the tool's own groups
    assert {1, 2, 3, 5, 6, 7, 8} <= {row["key"][1] for row in records(rows)}


@given(
    st.binary(max_size=40),
    st.none() | st.binary(max_size=40),
    st.integers(0, 2**31 - 1),
    st.integers(0, 2**63 - 1),
)
def test_any_bytes_are_read_as_they_were(
    key: bytes, value: bytes | None, partition: int, offset: int
) -> None:
    key, value = b"\0" + key + b"!", None if value is None else b"\0" + value + b"!"
    shown = "null" if value is None else as_kafka_shows(value)
    text = f"CreateTime:5\tPartition:{partition}\tOffset:{offset}\t"
    text += f"{as_kafka_shows(key)}\t{shown}"
    row = row_of_console_line(Line(number=1, text=text.encode()), "r")
    assert (row["key"], row["value"], row["at"]) == (key, value, 5)
    assert (row["source_partition"], row["source_offset"]) == (partition, offset)


def as_kafka_shows(data: bytes) -> str:
    """``Bytes.toString`` of kafka-clients."""
    plain = set(range(0x20, 0x7F)) - {ord("\\")}
    return "".join(chr(b) if b in plain else f"\\x{b:02X}" for b in data)


def test_one_damaged_line_costs_one_line(tmp_path: Path) -> None:
    lines = TEXT.read_bytes().split(b"\n")
    lines[3] = lines[3][:-5] + b"\\xG0"
    lines.insert(0, b"Option --property is deprecated and will be removed in a future.")
    lines[7:7] = [b"noise", b"", b"Partition:1\tOffset:99999999999999999999\ta\tb"]
    lines += [b"Processed a total of 12 messages", b""]
    path = tmp_path / "r.txt"
    path.write_bytes(gzip.compress(b"\r\n".join(lines)))
    rows = read_path(path)
    assert [entry[:2] for entry in damage(rows)] == [
        (5, "a damaged line of a record"),
        (8, "no line of a record"),
        (10, "no line of a record"),
    ]
    assert len(records(rows)) == len(records(read_path(TEXT))) - 1


@pytest.mark.parametrize("page", ["audit.md", "first-audit.md"])
def test_the_documents_have_the_command(page: str) -> None:
    text = (Path(__file__).parents[2] / "docs" / page).read_text()
    printed = " ".join(text.replace("\\\n", " ").split())
    printed = printed.replace("kafka-console-consumer.sh", "kafka-console-consumer")
    assert COMMAND.replace("HOST:PORT", "broker:9092") in printed


# Objects of the formatters.


def test_objects_have_the_keys_and_values_of_the_segment() -> None:
    rows = read_paths([GROUPS, OFFSETS])
    theirs = read_path(DATA / BROKER)
    assert damage(rows) == []
    for types in ((2,), (0, 1)):
        ours, logged = by_group(rows, *types), by_group(theirs, *types)
        assert len(ours) >= 2
        for group_id, found in logged.items():
            if not group_id.startswith("console-consumer-"):  # the tool's own groups
                assert ours[group_id] == found


def test_objects_have_the_rebalances_of_the_segment_but_for_times() -> None:
    ours = cases(read_paths([GROUPS, OFFSETS]))
    theirs = {
        (case.group_id, case.generation): case
        for case in cases(read_path(DATA / BROKER))
    }
    of_both = [theirs[case.group_id, case.generation] for case in ours]
    assert without_places(ours) == without_places(of_both)
    assert {case.group_id for case in ours} > {"java", "klassisch-ü"}
    assert max(case.generation or 0 for case in ours if case.group_id == "java") >= 3
    late = [b.at - a.at for a, b in zip(ours, of_both, strict=True) if a.at and b.at]
    assert len(late) == len(ours)
    assert min(late) >= 0  # the record is written after the state has changed
    names = [case.rebalance_id for case in ours]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("how", ["lines", "pretty", "3.9", "remarks"])
def test_other_forms_of_the_same_objects(how: str) -> None:
    if how == "lines":
        text = "\n".join(OBJECTS) + "\n"
    elif how == "pretty":
        text = "\r\n".join(
            json.dumps(json.loads(document), indent=2) for document in OBJECTS
        )
    elif how == "3.9":
        text = JSON_GROUPS.replace('"key":{"type"', '"key":{"version"')
    else:
        remark = "Option --property is deprecated and will be removed.\n"
        text = remark + JSON_GROUPS + "Processed a total of 12 messages\n"
    assert records(of_json(text)) == records(of_json(JSON_GROUPS))
    assert damage(of_json(text)) == []


def test_a_damaged_object_costs_one_object() -> None:
    cut = OBJECTS[2][:-9]
    unknown = '{"key":{"type":77,"data":"unknown"},"value":null}'
    no_base64 = OBJECTS[1].replace('"subscription":"', '"subscription":"!')
    text = "\n".join(["$ kafka-console-consumer", *OBJECTS[:2], cut, unknown])
    text += f"\n{no_base64}\n" + "\n".join(OBJECTS[3:])
    rows = of_json(text)
    assert [(row["source_offset"], row["reason"]) for row in rows[:4]] == [
        (1, "no record of a formatter"),
        (4, "not JSON: unexpected control character in string"),
        (5, "key: the tool does not know this type of record"),
        (6, "value: members: subscription: no base64"),
    ]
    assert {row["what"] for row in rows[:4]} == {UNREADABLE}
    kept = [row["value"] for row in records(of_json("".join(OBJECTS)))]
    assert [row["value"] for row in records(rows)] == kept[:2] + kept[3:]


def test_records_in_several_files_count_once() -> None:
    """A later run from the beginning contains the first one, also its tombstones."""
    tombstones = [
        n for n, document in enumerate(OBJECTS) if document.endswith('"value":null}')
    ]
    assert tombstones
    once = records(of_json(JSON_GROUPS))
    for first in range(0, len(OBJECTS) + 1, 3):
        rows = of_json(JSON_GROUPS, "".join(OBJECTS[:first]), "".join(OBJECTS[first:]))
        assert records(rows) == once
        repeated = [row["records"] for row in rows if row["what"] == REPEATED]
        assert repeated == [len(OBJECTS)]
        # The files in another order, and a file that contains two runs.
        rows = of_json("".join(OBJECTS[first:]), "".join(OBJECTS[:first]))
        assert by_group(keyed(rows)) == by_group(keyed(of_json(JSON_GROUPS)))
        rows = of_json("".join([*OBJECTS[:first], *OBJECTS]))
        assert records(rows) == once


def keyed(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row.get("group_id")]


def test_commits_are_put_between_rebalances_by_their_time() -> None:
    """Also if the clock of the broker went back, and in one file after the other."""
    group = json.loads(OBJECTS[1])
    name = group["key"]["data"]["group"]
    texts = []
    for generation, at in ((1, 1000), (2, 3000), (3, 2000)):
        group["value"]["data"]["generation"] = generation
        group["value"]["data"]["currentStateTimestamp"] = at
        texts.append(json.dumps(group))
    commits = []
    for offset, at in ((10, 1500), (20, 3500)):
        key = {"group": name, "topic": "t", "partition": 0}
        fields: dict[str, Any] = {"offset": offset, "leaderEpoch": -1}
        fields |= {"metadata": "", "commitTimestamp": at}
        shown = {"type": 1, "data": key}, {"version": 3, "data": fields}
        commits.append(json.dumps(dict(zip(("key", "value"), shown, strict=True))))
    both = of_json("".join(texts), "".join(commits))
    in_one = of_json("".join(commits + texts))
    assert [row["at"] for row in both] == [1000, 1500, 3000, 2000, 3500]
    assert [row["source_offset"] for row in both] == [1, 2, 3, 4, 5]
    assert records(in_one) == records(both)


def test_describe_text_takes_subscriptions_from_records_without_offsets(
    tmp_path: Path,
) -> None:
    last = [case for case in cases(of_json(JSON_GROUPS)) if case.group_id == "java"][-1]
    rows = [
        (topic, number, 0, name)
        for name, member in (last.members or {}).items()
        for topic, numbers in (member.assigned or {}).items()
        for number in numbers
    ]
    (tmp_path / "groups.json").write_text(JSON_GROUPS)
    (tmp_path / "lag.txt").write_text(offsets(*rows, group="java"))
    found = LocalFiles(path=tmp_path).moments("java")
    (state,) = (moment.key for moment in found if moment.is_snapshot)
    assert state.state_of == last.rebalance_id.replace("0.json", "%s/groups.json") % (
        tmp_path.name
    )
    assert state.subscriptions == REPORTED


def test_records_without_offsets_are_left_out_beside_others(tmp_path: Path) -> None:
    found = find_sources([GROUPS, TEXT])
    assert [file.name for file in found.files] == ["records.txt"]
    (error,) = found.unknown
    assert error.source == "groups.json"
    assert "without offsets, next to records.txt" in error.reason


@pytest.mark.heavy
def test_the_commands_of_the_documents_at_a_real_broker(
    broker: Broker, tmp_path: Path
) -> None:
    """It also has the records of other tests' groups."""
    fill(broker, "shown-")
    for form in ("records.txt", "groups.json", "offsets.json"):
        (tmp_path / form).write_text(printed(broker, form))
    (tmp_path / BROKER).mkdir()
    segment = tmp_path / BROKER / NAME
    segment.write_bytes(segment_of(broker).read_bytes())
    theirs = {row["source_offset"]: row for row in records(read_path(segment))}
    ours = records(read_path(tmp_path / "records.txt"))
    assert {row["key"][1] for row in ours} >= {1, 2, 3, 5, 6, 7, 8}
    assert all(theirs[row["source_offset"]] == row for row in ours)
    first = {row["source_offset"] for row in ours}
    assert {offset for offset in theirs if offset <= max(first)} == first
    rows = read_paths([tmp_path / "groups.json", tmp_path / "offsets.json"])
    log = read_path(segment)
    for types in ((2,), (0, 1)):
        printed_now, logged = by_group(rows, *types), by_group(log, *types)
        mine = [name for name in logged if name.startswith("shown-")]
        assert len(mine) >= 2
        assert [printed_now[name] for name in mine] == [logged[name] for name in mine]
    of_mine = [case for case in cases(rows) if case.group_id.startswith("shown-")]
    read = [case for case in cases(log) if case.group_id.startswith("shown-")]
    classic = [case for case in read if case.protocol != "consumer"]
    assert len(of_mine) >= 5
    assert without_places(of_mine) == without_places(classic)
