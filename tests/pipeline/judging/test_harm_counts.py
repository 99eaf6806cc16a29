"""Harm of real answers: partitions, times the time that the state lasts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.cases import NEXT, Case
from pipeline.judging.harm_counts import count_rivals, harm_columns
from pipeline.tables import HARM
from rebalance import INT64_MAX, ClaimRule, DocumentError
from tests.pipeline.audit_files import rows_of as rows_of_table
from tests.pipeline.cluster_facts import facts
from tests.pipeline.groups import Log, commit, group, member, replay
from tests.pipeline.judging.coded import batch_of, question_of
from tests.pipeline.judging.test_judge_rows import judged
from tests.pipeline.local_audit import local_audit
from tests.support.shapes import Document, rebalance
from tests.support.shapes import member as new_member
from tests.support.strategies import LARGER, rebalances
from verify import case_of

HOUR = 3_600_000
TOPIC = ("t",)
COOPERATIVE = {"assignor": "cooperative-sticky"}
NAMES = [field.name for field in HARM]
Harm = tuple[int | None, ...]


def harm(case: Case, size: int = 4, lasted: int | None = 1) -> Harm:
    """Return the harm of the real answer, which lasts so many milliseconds."""
    assert case.at is not None
    until = None if lasted is None else case.at + lasted
    rows = judged(replace(case, ended=NEXT, until=until), facts({"t": size}))
    for row in rows["answers"]:
        if row["assignor"] != "actual":
            assert [row.get(name) for name in NAMES] == [None] * 4
    (actual,) = (row for row in rows["answers"] if row["assignor"] == "actual")
    return tuple(actual[name] for name in NAMES)


def last(*records: Any) -> Case:
    return replay(*records)[-1]


def one(generation: int, *held: dict[str, Any], **more: Any) -> Any:
    people = (
        member(name, TOPIC, own) for name, own in zip("abcdef", held, strict=False)
    )
    return group(generation, *people, **more)


@pytest.mark.parametrize(
    ("held", "expected"),
    [
        ([[0, 1], [2, 3]], (0, 0, 0, 0)),
        ([[0], [1]], (2, 0, 0, None)),
        ([[0, 1], [1, 2, 3]], (0, 1, 0, None)),
        ([[0, 1], [1, 2], [1]], (1, 1, 0, None)),  # of three members
        ([[0, 1, 1], [2, 3]], (0, 0, 0, None)),  # twice, but of one member
        ([[0, 1, 9], [2, 3, 9]], (0, 0, 0, None)),  # one that does not exist
        ([[0, 1, 9], [1, 2, 3, 9]], (0, 1, 0, None)),
        ([[0, 1, 2, 3], []], (0, 0, 0, 2)),
        ([[0, 1, 2], [3]], (0, 0, 0, 1)),
        ([[0, 1], [2, 3], []], (0, 0, 0, 1)),
    ],
)
def test_partitions_of_an_answer(held: list[list[int]], expected: Harm) -> None:
    case = last(one(1, *({"t": numbers} for numbers in held)))
    assert harm(case) == expected
    assert harm(case, lasted=1300) == tuple(
        None if count is None else 1300 * count for count in expected
    )
    assert harm(case, lasted=None) == (None,) * 4


def test_more_partitions_than_the_judge_lists() -> None:
    assert harm(last(one(1, {"t": [0]})), size=3001)[0] == 3000


def test_partitions_withheld_beyond_those_of_the_optimum() -> None:
    """A member joins: an optimum withholds two of four, the client three."""
    first = one(1, {"t": [0, 1, 2, 3]}, **COOPERATIVE)
    for kept, waits in (([0, 1, 2], 0), ([0, 1], 0), ([0], 1), ([], 2)):
        owns = {"t": [0, 1, 2, 3]}
        second = group(
            2,
            member("a", TOPIC, {"t": kept}, owns=owns, generation=1),
            member("b", TOPIC, {}),
            **COOPERATIVE,
        )
        assert harm(last(first, second)) == (0, 0, waits, None), kept


def test_partitions_that_two_members_claim_have_to_wait() -> None:
    """Both report partition 0 with equal right, so that no answer can assign it."""
    rounds = group(
        2,
        member("a", TOPIC, {"t": [1]}, owns={"t": [0, 1]}, generation=1),
        member("b", TOPIC, {"t": [2, 3]}, owns={"t": [0, 2, 3]}, generation=1),
        **COOPERATIVE,
    )
    assert harm(last(rounds)) == (0, 0, 0, None)
    needless = replace(last(rounds))
    assert needless.members is not None
    needless.members["b"] = replace(needless.members["b"], assigned={"t": [2]})
    assert harm(needless) == (0, 0, 1, None)


def test_a_product_that_is_too_large_is_not_known() -> None:
    most = INT64_MAX // 3
    counts = np.array([[3, 4, 0, -1]] * 2)
    found = harm_columns(counts, pa.array([most, None], pa.int64()))
    assert [column.to_pylist() for column in found.values()] == [
        [3 * most, None], [None, None], [0, None], [None, None],
    ]  # fmt: skip


def audited(folder: Path, *logs: Log) -> list[dict[str, Any]]:
    """Return the real answers of an audit, by group and generation."""
    source = folder / "source"
    source.mkdir()
    for number, log in enumerate(logs):
        lines = "".join(json.dumps(record) + "\n" for record in log.records)
        (source / f"{number}.jsonl").write_text(lines)
    sizes = {"t": [{"from": "2023-01-01T00:00Z", "partitions": 4}]}
    (source / "topics.json").write_text(json.dumps(sizes))
    found = local_audit([source], folder / "out", assignors=["optimum"])
    rows = [
        row for row in rows_of_table(found, "answers") if row["assignor"] == "actual"
    ]
    return sorted(rows, key=lambda row: (row["group_id"], row["generation"]))


def test_a_partition_without_a_reader_is_mended_by_the_third_generation(
    tmp_path: Path,
) -> None:
    """Three of four partitions for 1 s, then two for 1.3 s."""
    log = Log().add(one(1, {"t": [0]}), one(2, {"t": [0, 1]})).wait(300)
    log.add(one(3, {"t": [0, 1, 2, 3]})).wait(HOUR).add(commit("t", 0, 1))
    found = audited(tmp_path, log)
    assert [row["unread_partition_ms"] for row in found] == [3000, 2 * 1300, 0]
    assert [row["verdict"] for row in found] == ["invalid", "invalid", "valid"]
    assert [row["imbalance_partition_ms"] for row in found] == [None, None, 0]


def test_a_group_stays_wrong_until_the_history_ends(tmp_path: Path) -> None:
    """Records of another group go on for hours."""
    log = Log().add(one(1, {"t": [0]}))
    even = Log(partition=1).add(one(1, {"t": [0, 1, 2, 3]}, {}, group_id="other"))
    even.wait(5 * HOUR).add(commit("t", 0, 1, group_id="other"))
    first, second = audited(tmp_path, log, even)
    assert first["unread_partition_ms"] == 3 * (5 * HOUR + 1000)
    assert second["imbalance_partition_ms"] == 2 * (5 * HOUR + 1000)


OLD_RIVALS = rebalance(
    {"t": {"partitions": 3}},
    {
        "a": new_member(["t"], {"t": [0]}, generation=5),
        "b": new_member(["t"], {"t": [0]}, generation=3),
        "c": new_member(["t"], {"t": [0, 1]}, generation=3),
        "d": new_member(["t"], {"t": [1]}, generation=3),
    },
)


@example(document=OLD_RIVALS, rule=ClaimRule.NEWEST_CLAIM)
@example(document=OLD_RIVALS, rule=ClaimRule.CURRENT_GENERATION)
@given(document=rebalances(LARGER), rule=st.sampled_from(ClaimRule))
def test_rivals_are_those_of_the_judge(document: Document, rule: ClaimRule) -> None:
    try:
        batch = batch_of(document, question_of(document))
    except DocumentError:
        return
    code = batch.code_of(0)
    if code is None:
        return
    case = case_of(batch.canonical(0), claim_rule=rule.value)
    expected = sum(map(len, case.rivals.values()))
    assert count_rivals(code.code, rule) == expected
