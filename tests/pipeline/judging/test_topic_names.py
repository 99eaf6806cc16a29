"""Names of topic ids in cases of the new protocol."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.cases import Case, CaseMember, unpack
from pipeline.history.stream import histories
from pipeline.judging.instance_batch import instance_of_case
from pipeline.judging.partition_counts import GIVEN, LOWER_BOUND, RECORDED
from pipeline.rows import CASE, FAILED, TOPIC, TOPIC_ID
from pipeline.side_files.sidecars import read_topics
from pipeline.topic_ids import id_of_plain, is_topic_id, plain_id, text_of_id
from pipeline.topic_names import (
    TWO_IDS,
    UNNAMED,
    names_of_ids,
    with_names,
)
from rebalance import DocumentError, InstanceError
from tests.pipeline.cluster_facts import facts, shown, usual_settings
from tests.pipeline.consumer_groups import (
    FIRST,
    JOIN,
    complete,
    epoch,
    rebuild,
    sizes,
)
from tests.pipeline.consumer_groups import rows_of as records_of
from tests.pipeline.groups import commit
from tests.pipeline.judging.judged_cases import judge_case_rows

OLD, NEW = text_of_id(bytes(16)), text_of_id(b"\xff" * 16)
OTHER = text_of_id(bytes(15) + b"\x01")


def case_of(**members: CaseMember) -> Case:
    return Case(
        rebalance_id="0/1",
        group_id="g",
        source_kind="consumer-offsets",
        source="s",
        members=members,
    )


def member(
    owned: dict[str, list[int]],
    assigned: dict[str, list[int]],
    claimed: dict[str, list[int]] | None = None,
) -> CaseMember:
    return CaseMember(
        subscription=["t", "u"], owned=owned, assigned=assigned, claimed=claimed
    )


def test_ids_have_kafkas_text() -> None:
    assert plain_id(NEW) == "_____________________w"
    assert id_of_plain(plain_id(NEW)) == NEW
    assert is_topic_id(NEW)
    assert not is_topic_id("_____________________w")


def test_ids_become_names() -> None:
    named = with_names(
        case_of(a=member({OLD: [1]}, {OTHER: [0], OLD: [2]}, {OLD: [1, 2]})),
        {OLD: "t", OTHER: "u"},
    )
    assert named.members == {
        "a": member({"t": [1]}, {"t": [2], "u": [0]}, {"t": [1, 2]})
    }


def test_partitions_of_a_former_topic_are_not_owned() -> None:
    """A topic that is created again has another id and the same name."""
    names = {OLD: "t", NEW: "t", OTHER: "u"}
    case = case_of(
        a=member({OLD: [0, 1], OTHER: [0]}, {NEW: [0]}, {OLD: [0]}),
        b=member({}, {OTHER: [0]}),
    )
    named = with_names(case, names)
    assert named.members == {
        "a": member({"u": [0]}, {"t": [0]}, {}),
        "b": member({}, {"u": [0]}),
    }


@pytest.mark.parametrize(
    ("case", "reason", "subject"),
    [
        (case_of(a=member({}, {OTHER: [0]})), UNNAMED, plain_id(OTHER)),
        (case_of(a=member({OTHER: [0]}, {})), UNNAMED, plain_id(OTHER)),
        (case_of(a=member({}, {NEW: [0], OLD: [0]})), TWO_IDS, "t"),
    ],
)
def test_what_has_no_name_is_refused(case: Case, reason: str, subject: str) -> None:
    with pytest.raises(InstanceError) as caught:
        with_names(case, {OLD: "t", NEW: "t"})
    assert (caught.value.reason, caught.value.subject) == (reason, subject)


def test_a_case_without_names_is_quarantined() -> None:
    (case,) = [
        unpack(row["value"])
        for row in histories(records_of(*FIRST))
        if row["what"] == CASE
    ]
    ((table, row),) = judge_case_rows(case, usual_settings())
    assert (table, row["kind"], row["group_id"]) == ("quarantine", FAILED, "orders")
    assert row["reason"].startswith(f"instance: InstanceError: {UNNAMED}")
    assert (row["source_partition"], row["source_offset"]) == (7, 3)


def test_records_name_ids_and_count_partitions() -> None:
    rows = list(
        histories(
            records_of(
                *FIRST, sizes(u=9), commit("t", 5, 0)._replace(version=4, topic_id=_T)
            )
        )
    )
    assert {r["record"]: r["key"] for r in rows if r["what"] == TOPIC_ID} == {
        "t": _T, "u": _T[:-1] + b"u",
    }  # fmt: skip
    seen = {r["record"]: r["records"] for r in rows if r["what"] == TOPIC}
    assert seen == {text_of_id(_T): 4, "t": 6, "u": 9}


_T = bytes(15) + b"t"


def test_an_id_with_two_names_has_none() -> None:
    stated = [(_T, "t"), (_T, "u"), (bytes(16), "v"), (bytes(16), "v")]
    assert names_of_ids(stated) == {OLD: "v"}


def test_counts_of_kafka_4_0_are_recorded() -> None:
    first, second = rebuild(sizes(t=4), *FIRST, sizes(), *JOIN).cases
    known = facts({"t": 5})
    assert instance_of_case(first, known).document.topics["t"].partitions == 4
    assert instance_of_case(first, known).partition_counts == RECORDED
    assert instance_of_case(second, known).document.topics["t"].partitions == 5
    assert instance_of_case(second, known).partition_counts == GIVEN
    assert instance_of_case(second, shown({"t": 4})).partition_counts == LOWER_BOUND


def test_a_topic_without_assignment_needs_no_id() -> None:
    (first, second) = rebuild(*FIRST, epoch(3), complete(3)).cases
    assert second.members == {
        "a": replace(
            (first.members or {})["a"],
            owned={"t": [0, 1, 2, 3]},
            claimed={"t": [0, 1, 2, 3]},
            generation=2,
            claimed_generation=2,
            joined=False,
        )
    }


def test_topics_json_can_have_ids(tmp_path: Path) -> None:
    path = tmp_path / "topics.json"
    described = {"partitions": 3, "id": plain_id(NEW)}
    path.write_text(json.dumps({"t": described, "u": 2, "v": {"partitions": 1}}))
    found = read_topics(path)
    assert found.at_end == {"t": 3, "u": 2, "v": 1}
    assert found.names == {NEW: "t"}
    with pytest.raises(DocumentError, match=r"\$.t: 3 partitions, above the limit 2"):
        read_topics(path, 2)


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ({"t": {"partitions": 1, "id": "short"}}, r"\$\.t\.id: "),
        ({"t": {"id": plain_id(NEW)}}, r"\$\.t\.partitions: "),
        ({"t": {"partitions": 1, "racks": []}}, r"\$\.t\.racks: "),
        ({"t": {"partitions": -1}}, r"\$\.t\.partitions: "),
    ],
)
def test_a_described_topic_is_read_strictly(
    tmp_path: Path, written: dict[str, object], reason: str
) -> None:
    path = tmp_path / "topics.json"
    path.write_text(json.dumps(written))
    with pytest.raises(DocumentError, match=reason):
        read_topics(path)


def test_an_id_belongs_to_one_topic(tmp_path: Path) -> None:
    path = tmp_path / "topics.json"
    described = {"partitions": 3, "id": plain_id(NEW)}
    path.write_text(json.dumps({"t": described, "u": described}))
    with pytest.raises(DocumentError, match="the id of 't' again"):
        read_topics(path)
