"""``judge``: verdicts, and the matching of assignments to instances."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.oracle.cli.commands import AS_IT_STANDS, CHAIN, Cli, group_of, write_lines
from tests.support.shapes import Document

ONE = group_of("g", {"a": ["t"], "b": ["t"]}, {"t": 2}, id="one")
TWO = group_of("g", {"a": ["t"], "b": ["t"]}, {"t": 4}, id="two")


def answer(members: dict[str, Any], **more: Any) -> Document:
    return {"format": "assignment/1", "members": members, **more}


ONE_ANSWERED = answer({"a": {"t": [0]}, "b": {"t": [1]}}, id="one")
TWO_ANSWERED = answer({"a": {"t": [0, 1]}, "b": {"t": [2, 3]}}, id="two")


class Judge:
    def __init__(self, cli: Cli, folder: Path) -> None:
        self.cli, self.folder = cli, folder

    def __call__(
        self, instances: list[Any], answers: list[Any], *options: str
    ) -> tuple[int, list[Any], list[str]]:
        first = write_lines(self.folder / "instances", *instances)
        second = write_lines(self.folder / "answers", *answers)
        ended = self.cli("judge", *options, first, second)
        return ended.code, ended.documents, ended.complaints


@pytest.fixture
def judge(cli: Cli, tmp_path: Path) -> Judge:
    return Judge(cli, tmp_path)


def test_the_smallest_case_that_separates_the_two_balances(judge: Judge) -> None:
    code, (verdict,), _ = judge([CHAIN], [AS_IT_STANDS])
    assert code == 0
    assert verdict["format"] == "verdict/1"
    assert verdict["verdict"] == "valid"
    assert verdict["figures"]["kip54_balanced"] is True
    assert verdict["figures"]["dec_min_balanced"] is False
    assert verdict["evidence"]["dec_min_balanced"] == ["a", "b", "c", "d"]
    assert "against" not in verdict


def test_against_the_optimum(judge: Judge) -> None:
    code, (verdict,), _ = judge([CHAIN], [AS_IT_STANDS], "--against", "optimum")
    against = verdict["against"]
    assert code == 0
    assert against["status"] == "optimal"
    assert against["figures"]["loads"] == [1, 1, 1, 1]
    assert against["figures"]["moves"] == 3
    assert against["proved"]["dec_min"]
    assert against["gap"] == {"moves": -3, "kip54_score": 6}


def test_an_invalid_one_is_code_1(judge: Judge) -> None:
    twice = answer({"a": {"t": [0, 1]}, "b": {"t": [1]}, "x": {}}, id="one")
    code, verdicts, complaints = judge([ONE], [twice, ONE_ANSWERED])
    assert code == 1
    assert complaints == []
    assert [verdict["verdict"] for verdict in verdicts] == ["invalid", "valid"]
    rules = {violation["rule"] for violation in verdicts[0]["violations"]}
    assert rules == {"assigned-twice", "unknown-member"}


HALF_MOVED = group_of("g", {"a": ["t"], "b": ["t"]}, {"t": 2})
HALF_MOVED["members"]["a"] |= {"owned": {"t": [0]}}
HALF_MOVED["members"]["b"] |= {"owned": {"t": [1]}}
KEPT, SWAPPED, HEAPED = (
    answer({"a": {"t": first}, "b": {"t": second}})
    for first, second in (([0], [1]), ([1], [0]), ([0, 1], []))
)


@pytest.mark.parametrize(
    ("instance", "assignment", "met"),
    [
        (CHAIN, AS_IT_STANDS, {"valid", "kip54"}),  # balanced by KIP-54 alone
        (HALF_MOVED, KEPT, {"valid", "kip54", "optimum"}),
        (HALF_MOVED, SWAPPED, {"valid", "kip54"}),  # balanced, but moves needlessly
        (HALF_MOVED, HEAPED, {"valid"}),
        (HALF_MOVED, answer({"a": {"t": [0]}, "b": {}}), set()),
    ],
)
def test_a_requirement_decides_the_code(
    judge: Judge, instance: Document, assignment: Document, met: set[str]
) -> None:
    for required in ("valid", "kip54", "optimum"):
        code, (verdict,), _ = judge([instance], [assignment], "--require", required)
        assert (code == 0) == (required in met), required
        assert ("against" in verdict) == (required == "optimum")


def test_a_round_that_withholds_is_not_final(judge: Judge) -> None:
    instance = group_of("g", {"a": ["t"], "b": ["t"]}, {"t": 2})
    instance["members"]["a"] |= {"owned": {"t": [0, 1]}}
    withheld = answer({"a": {"t": [0]}, "b": {}})
    for required, code in (("valid", 0), ("kip54", 1), ("optimum", 1)):
        options = ("--cooperative", "--require", required)
        assert judge([instance], [withheld], *options)[0] == code


def test_a_negative_gap_is_explained_where_it_is_printed(
    person: Cli, tmp_path: Path
) -> None:
    chain = write_lines(tmp_path / "chain", CHAIN)
    stands = write_lines(tmp_path / "stands", AS_IT_STANDS)
    text = person("judge", "--require", "optimum", chain, stands).out.decode()
    assert "gap in moves of -3: it is less balanced, and the optimum puts" in text
    assert "required: optimum, which is not met" in text
    broken = write_lines(tmp_path / "broken", answer({"a": {"t": [0, 1]}, "b": {}}))
    text = person("judge", "--against", "optimum", chain, broken).out.decode()
    assert "an assignment that violates a rule can have less" in text
    solved = str(tmp_path / "solved")
    assert person("solve", "-o", solved, chain).code == 0
    ended = person("judge", "--against", "optimum", chain, solved)
    assert "gap in" not in ended.out.decode()
    assert person("judge", "--require", "optimum", chain, solved).code == 0


def test_pairs_are_by_id_whatever_the_order(judge: Judge) -> None:
    code, verdicts, _ = judge([ONE, TWO], [TWO_ANSWERED, ONE_ANSWERED])
    assert code == 0
    assert [verdict["id"] for verdict in verdicts] == ["two", "one"]
    assert [verdict["figures"]["loads"] for verdict in verdicts] == [[2, 2], [1, 1]]


def test_one_instance_may_have_many_answers(judge: Judge) -> None:
    code, verdicts, complaints = judge([ONE], [ONE_ANSWERED] * 3)
    assert code == 0
    assert len(verdicts) == 3
    assert complaints == []


@pytest.mark.parametrize("without_id", ["instances", "answers", "both"])
def test_without_ids_pairs_are_by_place(judge: Judge, without_id: str) -> None:
    def bare(documents: list[Document], side: str) -> list[Document]:
        if without_id not in (side, "both"):
            return documents
        return [
            {k: v for k, v in document.items() if k != "id"} for document in documents
        ]

    instances = bare([ONE, TWO], "instances")
    answers = bare([ONE_ANSWERED, TWO_ANSWERED], "answers")
    code, verdicts, _ = judge(instances, answers)
    assert code == 0
    assert [verdict["figures"]["loads"] for verdict in verdicts] == [[1, 1], [2, 2]]
    turned, verdicts, _ = judge(instances, answers[::-1])
    assert turned == 1
    assert [verdict["verdict"] for verdict in verdicts] == ["invalid", "invalid"]


def test_what_belongs_to_nothing_is_reported(judge: Judge) -> None:
    stray = answer({"a": {}}, id="three")
    surplus = answer({"a": {}})
    code, verdicts, complaints = judge([ONE, TWO], [ONE_ANSWERED, stray, surplus])
    assert code == 2
    assert len(verdicts) == 1
    no_id, no_place, unanswered = complaints
    assert "answers: document 2: " in no_id
    assert "contains no document with this id: {'id': 'three'}" in no_id
    assert "answers: document 3: " in no_place
    assert "contains no document at this place" in no_place
    assert unanswered.endswith("1 without an assignment: document 2")


def test_another_groups_assignment_is_refused(judge: Judge) -> None:
    code, verdicts, complaints = judge([ONE], [{**ONE_ANSWERED, "group": "h"}])
    assert (code, verdicts) == (2, [])
    assert (
        "contains group 'g' at this place: {'group': 'h', 'id': 'one'}" in complaints[0]
    )


def test_an_id_given_twice_is_refused(judge: Judge) -> None:
    code, verdicts, complaints = judge([ONE, TWO, ONE], [ONE_ANSWERED])
    assert (code, verdicts) == (2, [])
    assert complaints == [
        f"{judge.folder}/instances: document 3: id 'one' is that of document 1, too"
    ]


def test_an_unreadable_one_keeps_its_place(judge: Judge) -> None:
    """Later documents keep their pairs; the verdict is unreadable, and the code 2."""
    bare = [{k: v for k, v in instance.items() if k != "id"} for instance in (ONE, TWO)]
    answers = [ONE_ANSWERED, '{"format": "assignment/1"}', TWO_ANSWERED]
    instances = [bare[0], bare[0], bare[1]]
    code, verdicts, complaints = judge(instances, answers)
    assert code == 2
    assert [verdict["verdict"] for verdict in verdicts] == [
        "valid",
        "unreadable",
        "valid",
    ]
    assert verdicts[1]["evidence"]["unreadable"]["document"] == "assignment"
    assert len(complaints) == 1
    assert "answers:2: $.members: missing" in complaints[0]

    torn = [bare[0], "{", bare[1]]
    answers = [ONE_ANSWERED, ONE_ANSWERED, TWO_ANSWERED]
    code, verdicts, complaints = judge(torn, answers)
    assert code == 2
    assert [verdict["verdict"] for verdict in verdicts] == [
        "valid",
        "unreadable",
        "valid",
    ]
    assert verdicts[1]["evidence"]["unreadable"]["document"] == "instance"
    assert "instances:2: $: not JSON" in complaints[0]


def test_unreadable_input_takes_precedence_over_invalid(judge: Judge) -> None:
    nobody = answer({"a": {}, "b": {}}, id="one")
    assert judge([ONE], [nobody])[0] == 1
    assert judge([ONE], [nobody, "{"])[0] == 2


def test_cooperative_rounds_may_withhold(judge: Judge) -> None:
    instance = json.loads(json.dumps(ONE))
    instance["members"]["a"] |= {"owned": {"t": [0, 1]}, "generation": 4}
    first_round = answer({"a": {"t": [0]}, "b": {}}, id="one")
    code, (eager,), _ = judge([instance], [first_round])
    assert code == 1
    assert eager["violations"][0]["rule"] == "unassigned"
    code, (verdict,), _ = judge([instance], [first_round], "--cooperative")
    assert code == 0
    assert verdict["figures"]["withheld"] == 1


def test_the_claim_rule_is_followed(judge: Judge) -> None:
    instance = json.loads(json.dumps(ONE))
    instance["members"]["a"] |= {"owned": {"t": [0]}, "generation": 1}
    instance["members"]["b"] |= {"owned": {}, "generation": 2}
    rule = "--claim-rule"
    _, (newest,), _ = judge([instance], [ONE_ANSWERED], rule, "newest-claim")
    _, (current,), _ = judge([instance], [ONE_ANSWERED], rule, "current-generation")
    assert newest["figures"]["kept"] == 1
    assert current["figures"]["kept"] == 0


def test_one_of_the_two_may_be_standard_input(cli: Cli, tmp_path: Path) -> None:
    source = write_lines(tmp_path / "r", ONE)
    answers = json.dumps(ONE_ANSWERED).encode()
    assert cli("judge", source, "-", stdin=answers).documents[0]["id"] == "one"
    both = cli("judge", "-", "-", stdin=answers)
    assert both.code == 2
    assert "only one of the two can be standard input" in both.err


def test_numbers_past_64_bits_are_written_out(judge: Judge) -> None:
    """The judge adds lags up without end; so does what it writes."""
    lag = 2**63 - 1
    instance = {**ONE, "topics": {"t": {"partitions": 2, "lag": [lag, lag]}}}
    both = answer({"a": {"t": [0, 1]}, "b": {}}, id="one")
    _, (verdict,), _ = judge([instance], [both])
    assert verdict["figures"]["peak_lag"] == 2 * lag
