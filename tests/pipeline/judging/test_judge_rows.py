"""Judging of cases: instances, answers, and rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import orjson
import pytest

from heuristics import ASSIGNORS, Assignor
from pipeline.cases import NEXT, OPEN, Case
from pipeline.evaluation import DEFAULT, answers, selection
from pipeline.judging.instances import ClusterFacts
from pipeline.judging.judged_batch import NO_DATE
from pipeline.records.place import NO_TIME, WENT_BACK
from pipeline.rows import (
    FAILED,
    batches_of,
    bytes_row,
    case_row,
    latest_time,
    topic_row,
)
from pipeline.side_files.sidecars import LogsFile
from pipeline.sightings import Sighting
from pipeline.tables import ORDER, SCHEMAS, UNDATED
from rebalance import (
    ClaimRule,
    Instance,
    SourceError,
    rebalance_of,
    to_json,
)
from tests.pipeline.classic_histories import TWO_ROUNDS
from tests.pipeline.cluster_facts import facts, usual_settings
from tests.pipeline.groups import group, member, replay
from tests.pipeline.judging.judged_cases import (
    document_case,
    judge_case_rows,
    only_case,
)
from tests.support.shapes import CHAIN, LAG, NOTHING, SHAPES

Rows = dict[str, list[dict[str, Any]]]
ALWAYS = ("actual", "optimum")
FACTS = facts({"t": 4, "u": 2})


EVERY = selection(["all"])


def judged(
    case: Case,
    facts: ClusterFacts = FACTS,
    rule: str = "newest-claim",
    assignors: tuple[str, ...] = EVERY,
) -> Rows:
    asked = usual_settings(facts, claim_rule=ClaimRule(rule), assignors=assignors)
    rows: Rows = {name: [] for name in SCHEMAS}
    for name, row in judge_case_rows(case, asked):
        assert row.keys() <= set(SCHEMAS[name].names)
        rows[name].append(row)
    return rows


def by_assignor(rows: Rows) -> dict[str, dict[str, Any]]:
    return {row["assignor"]: row for row in rows["answers"]}


# What is answered.


def test_a_needless_move_is_seen() -> None:
    _, case = replay(
        group(
            1,
            member("a", ["t"], {"t": [0, 1]}),
            member("b", ["t"], {"t": [2, 3]}),
            assignor="roundrobin",
        ),
        group(
            2,
            member("a", ["t"], {"t": [0, 2]}),
            member("b", ["t"], {"t": [1, 3]}),
            assignor="roundrobin",
        ),
    )
    rows = judged(case)
    actual, optimum = (by_assignor(rows)[name] for name in ("actual", "optimum"))
    assert (actual["moves"], actual["moves_least"], actual["kept"]) == (2, 0, 2)
    assert (actual["moves_least_kip54"], actual["at_kip54_optimum"]) == (0, False)
    assert actual["dec_min_balanced"]
    assert actual["at_optimum"] is False
    assert actual["status"] is None
    assert optimum["at_optimum"] is True
    assert optimum["status"] == "optimal"
    assert optimum["proved_dec_min"]
    assert optimum["proved_stickiness"]
    assert actual["client_assignor"] == "roundrobin"
    assert orjson.loads(actual["assignment"])["members"]["a"] == {"t": [0, 2]}
    (row,) = rows["rebalances"]
    assert (row["owned"], row["members"], row["partitions"]) == (4, 2, 4)
    assert (row["joined"], row["left"], row["resubscribed"]) == (0, 0, 0)
    assert row["date"] == "2023-11-14"
    (episode,) = rows["episodes"]
    assert (episode["moves"], episode["moves_least"]) == (2, 0)
    assert (episode["moves_least_kip54"], episode["at_kip54_optimum"]) == (0, False)
    assert (episode["verdict"], episode["at_optimum"]) == ("valid", False)
    assert rows["quarantine"] == []


def test_a_chain_separates_the_real_answer_from_the_optimum() -> None:
    held = {name: member.get("owned", {}) for name, member in CHAIN["members"].items()}
    wants = {name: member["subscription"] for name, member in CHAIN["members"].items()}
    people = [member(name, wants[name], held[name]) for name in held]
    *_, case = replay(group(1, *people), group(2, *people))
    rows = judged(case, facts({"t": 2, "u": 1, "v": 1}))
    actual = by_assignor(rows)["actual"]
    assert (actual["load_max"], actual["load_min"]) == (2, 0)
    assert actual["loads"] == [2, 1, 1, 0]
    assert (actual["kip54_balanced"], actual["dec_min_balanced"]) == (True, False)
    assert (actual["kip54_score"], actual["kip54_score_least"]) == (6, 0)
    assert orjson.loads(actual["evidence"])["dec_min_balanced"] == ["a", "b", "c", "d"]
    assert by_assignor(rows)["optimum"]["moves"] == 3


def test_a_violation_names_its_culprit() -> None:
    (case,) = replay(group(1, member("a", ["t"], {"t": [0, 1, 2], "u": [0]})))
    actual = by_assignor(judged(case))["actual"]
    assert actual["verdict"] == "invalid"
    found = [tuple(violation.values()) for violation in actual["violations"]]
    assert found == [
        ("unassigned", None, "t", 3),
        ("unsubscribed", "a", "u", 0),
    ]
    assert actual["at_optimum"] is False


def test_a_partition_given_twice_to_one_member_is_seen() -> None:
    (case,) = replay(group(1, member("a", ["t"], {"t": [0, 0, 1, 2, 3]})))
    actual = by_assignor(judged(case))["actual"]
    assert [violation["rule"] for violation in actual["violations"]] == [
        "assigned-twice"
    ]


def test_withholding_is_judged_over_the_episode() -> None:
    _, first, second = (judged(case) for case in replay(*TWO_ROUNDS))
    actual = by_assignor(first)["actual"]
    assert (actual["verdict"], actual["withheld"]) == ("valid", 2)
    assert actual["at_optimum"] is None
    assert first["episodes"] == []
    assert by_assignor(second)["actual"]["at_optimum"] is True
    (episode,) = second["episodes"]
    assert (episode["rounds"], episode["withheld"]) == (2, 2)
    assert (episode["moves"], episode["moves_least"], episode["owned"]) == (2, 2, 4)
    assert episode["at_optimum"] is True
    assert episode["unowned_partition_ms"] == 2000
    before = orjson.loads(episode["instance"])["members"]["a"]["owned"]
    assert before == {"t": [0, 1, 2, 3]}


def test_an_open_episode_has_no_outcome() -> None:
    *_, case = replay(*TWO_ROUNDS[:2])
    (episode,) = judged(case)["episodes"]
    assert episode["ended"] == "open"
    assert episode["verdict"] is None
    assert episode["at_optimum"] is None


def test_member_rows_have_owned_and_assigned_partitions() -> None:
    _, case = replay(
        group(1, member("b", ["t"], {"t": [3]})),
        group(
            2,
            member("b", ["t"], {"t": [0, 1]}, owns={"t": [3]}, generation=1),
            member("a", ["u", "t"], {"t": [2, 3]}, instance_id="s"),
        ),
    )
    logs = {"t": dict.fromkeys(range(4), (0, 5)), "u": dict.fromkeys(range(2), (0, 1))}
    rows = judged(case, facts({"t": 4, "u": 2}, logs=LogsFile(ends=logs)))["members"]
    assert [row["member_id"] for row in rows] == ["a", "b"]
    a, b = rows
    assert a["subscription"] == ["t", "u"]
    assert (a["joined"], b["joined"]) == (True, False)
    assert (a["instance_id"], b["instance_id"]) == ("s", None)
    assert b["owned"] == [{"topic": "t", "partitions": [3]}]
    assert b["claimed"] == b["owned"]
    assert b["assigned"] == [{"topic": "t", "partitions": [0, 1]}]
    assert (b["load"], b["lag"], b["claimed_generation"]) == (2, 10, 1)
    assert a["client_id"] == "client of a"


def test_lag_has_a_bound() -> None:
    rows = by_assignor(judged(document_case(LAG)))
    assert rows["lag-aware"]["peak_lag"] == 110_000
    assert rows["range"]["peak_lag"] == 160_000
    assert {row["peak_lag_bound"] for row in rows.values()} == {105_000}
    assert rows["range"]["lag_known"]
    assert by_assignor(judged(document_case(CHAIN)))["range"]["peak_lag"] is None


def test_a_heuristic_that_does_not_apply_has_a_reason() -> None:
    row = by_assignor(judged(document_case(CHAIN)))["constrained-sticky"]
    assert row["applies"] is False
    assert "same topics" in row["refused"]
    assert "verdict" not in row


def test_a_document_has_no_real_answer_and_no_time() -> None:
    rows = judged(document_case(CHAIN))
    assert set(by_assignor(rows)) == {"optimum", "kip54-sticky", *ASSIGNORS}
    assert rows["rebalances"][0]["date"] == UNDATED
    assert rows["episodes"] == []
    assert all(row["assigned"] is None for row in rows["members"])


def test_the_kip54_optimum_is_computed_on_request_only() -> None:
    rows = judged(document_case(CHAIN), assignors=DEFAULT)
    assert set(by_assignor(rows)) == {"optimum", *ASSIGNORS}
    assert {row["moves_least_kip54"] for row in rows["answers"]} == {None}
    assert rows["quarantine"] == []


def test_an_episode_without_the_kip54_optimum() -> None:
    *_, last = replay(*TWO_ROUNDS)
    rows = judged(last, assignors=selection(["range"]))
    assert set(by_assignor(rows)) == {"actual", "optimum", "range"}
    (episode,) = rows["episodes"]
    assert episode["moves_least_kip54"] is None
    assert episode["at_kip54_optimum"] is None
    assert episode["moves_least"] is not None


@pytest.mark.parametrize(
    ("names", "selected"),
    [
        (None, (*ALWAYS, *ASSIGNORS)),
        (["all"], (*ALWAYS, "kip54-sticky", *ASSIGNORS)),
        (["sticky", "range", "sticky"], (*ALWAYS, "range", "sticky")),
        (["kip54-sticky"], (*ALWAYS, "kip54-sticky")),
        (["optimum"], ALWAYS),
    ],
)
def test_selection(names: list[str] | None, selected: tuple[str, ...]) -> None:
    assert selection(names) == selected


def test_an_unknown_assignor_is_an_error_that_lists_the_known() -> None:
    with pytest.raises(SourceError, match=r"'rnage'.*range, round-robin.*all"):
        selection(["range", "rnage"])


@pytest.mark.parametrize("rule", [rule.value for rule in ClaimRule])
@pytest.mark.parametrize("name", sorted(SHAPES))
def test_every_shape_is_judged_and_every_optimum_proved(name: str, rule: str) -> None:
    rows = judged(document_case(SHAPES[name]), rule=rule)
    assert rows["quarantine"] == []
    optimum = by_assignor(rows)["optimum"]
    assert optimum["at_optimum"] is True
    for row in rows["answers"]:
        if row["applies"]:
            assert row["verdict"] == "valid"
            if row["kip54_score_least"] is not None:
                assert row["kip54_score"] >= row["kip54_score_least"]
            if row["kip54_balanced"]:
                assert row["moves"] >= row["moves_least_kip54"]
            if row["dec_min_balanced"]:
                assert row["moves"] >= row["moves_least"]
            if row["peak_lag_bound"] is not None:
                assert row["peak_lag"] >= row["peak_lag_bound"]


# What goes wrong.


class Broken:
    """An assignor that falls over."""

    name = "broken"

    def refuses(self, instance: Instance) -> str | None:
        return None if instance.members else "nobody"

    def assign(self, instance: Instance) -> Any:
        raise ZeroDivisionError(f"oh\n{instance.group}")


def with_broken(found: Mapping[str, Assignor]) -> Mapping[str, Assignor]:
    return MappingProxyType({"broken": Broken(), **found})


def test_an_assignor_that_raises_affects_one_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(answers, "ASSIGNORS", with_broken(ASSIGNORS))
    rows = judged(document_case(CHAIN), assignors=("broken", *EVERY))
    assert "broken" not in by_assignor(rows)
    assert set(by_assignor(rows)) >= {"optimum", "range"}
    (failed,) = rows["quarantine"]
    assert (failed["kind"], failed["group_id"]) == (FAILED, "g")
    assert failed["reason"] == "broken: ZeroDivisionError: oh"
    assert failed["instance"] == to_json(rebalance_of(CHAIN)).decode()


def test_without_the_optimum_nothing_is_called_optimal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("no answer")

    monkeypatch.setattr(answers, "solve", fail)
    rows = judged(document_case(CHAIN))
    assert [row["reason"] for row in rows["quarantine"]] == [
        "optimum: RuntimeError: no answer",
        "kip54-sticky: RuntimeError: no answer",
    ]
    for row in rows["answers"]:
        assert (row["moves_least"], row["kip54_score_least"]) == (None, None)
        assert row.get("at_optimum") is None


def test_a_case_too_large_to_pose_is_quarantined() -> None:
    rows = judged(only_case(), facts({"t": 2**31, "u": 1}))
    assert rows["rebalances"] == rows["answers"] == []
    (failed,) = rows["quarantine"]
    assert failed["reason"].startswith("instance: DocumentError: $.topics.t.partitions")
    assert (failed["source_partition"], failed["source_offset"]) == (7, 0)


def test_bug_a_time_that_no_date_states_is_quarantined() -> None:
    """The audit ended with an OverflowError."""
    rows = judged(replace(only_case(), at=1 << 60))
    assert rows["rebalances"] == rows["members"] == []
    (failed,) = rows["quarantine"]
    assert failed["reason"] == f"instance: {NO_DATE}"
    assert (failed["at"], failed["date"]) == (None, UNDATED)


def test_the_end_of_a_state_can_have_no_date() -> None:
    """That of the history is the latest time of records that have one."""
    case = replace(only_case(), ended=NEXT, until=1 << 60)
    (row,) = judged(case)["rebalances"]
    assert (row["until"], row["lasted_ms"], row["lasted_unknown"]) == (
        None, None, NO_TIME,
    )  # fmt: skip
    rows = [
        bytes_row("s", partition=0, offset=offset, at=at, key=b"", value=None)
        for offset, at in enumerate((None, 7, 1 << 60))
    ]
    rows += [topic_row("t", Sighting(9, 3)), case_row(replace(case, at=9))]
    (batch,) = batches_of(rows)
    assert latest_time(batch) == 7
    assert latest_time(batch.slice(0, 1)) is None


def test_an_open_state_lasts_to_the_end_of_the_history() -> None:
    case = replace(only_case(), ended=OPEN)
    assert case.at is not None
    known = replace(FACTS, history_end=case.at + 5)
    (row,) = judged(case, known)["rebalances"]
    assert (row["lasted_ms"], row["lasted_unknown"], row["ended"]) == (5, None, OPEN)
    (row,) = judged(replace(case, lasted_unknown=WENT_BACK), known)["rebalances"]
    assert (row["lasted_ms"], row["lasted_unknown"]) == (None, WENT_BACK)


def test_nothing_at_all_is_judged() -> None:
    rows = judged(document_case(NOTHING))
    assert rows["quarantine"] == []
    assert by_assignor(rows)["optimum"]["load_max"] is None


def test_rows_are_sorted_by_columns_that_exist() -> None:
    for name, order in ORDER.items():
        assert set(order) <= set(SCHEMAS[name].names)
