"""``explain``: sentences, documents, exit codes, and bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from oracle.explanation import parse_explanation
from tests.oracle.cli.commands import AS_IT_STANDS, CHAIN, Cli, group_of, write_lines
from tests.support.shapes import Document

OTHER = group_of("other", {"a": ["t"], "b": ["t"]}, {"t": 3}, id="even")
EVEN = {
    "format": "assignment/1",
    "id": "even",
    "members": {"a": {"t": [0, 1]}, "b": {"t": [2]}},
}


@pytest.fixture
def source(tmp_path: Path) -> str:
    return write_lines(tmp_path / "r", CHAIN)


def lines(out: bytes) -> list[str]:
    """Return lines of sentences, joined where they are wrapped."""
    return " ".join(out.decode().split()).split(" 1. ")


def test_the_optimum_is_explained_in_sentences(cli: Cli, source: str) -> None:
    ended = cli("explain", source)
    assert (ended.code, ended.err) == (0, "")
    head, rest = lines(ended.out)
    assert head == (
        "orders chain · dec-min; stickiness The best assignment: loads 1, 1, 1, 1, 3 "
        "moves."
    )
    assert rest.startswith(
        "All 4 partitions of topics t, u and v can only go to a, b, c and d, so 1, 1,"
        " 1, 1 is the most even. 2. a owns 2 partitions that balance would let it keep,"
        " but can hold at most 1: at least 1 has to go to other members."
    )


def test_an_assignment_that_is_not_the_best_is_code_1(
    cli: Cli, source: str, tmp_path: Path
) -> None:
    ended = cli("explain", source, write_lines(tmp_path / "a", AS_IT_STANDS))
    assert (ended.code, ended.err) == (1, "")
    assert "t:1 from a to b, u:0 from b to c, v:0 from c to d" in " ".join(
        ended.out.decode().split()
    )


@pytest.mark.parametrize("option", ["--json", "--output"])
def test_programs_get_documents(
    cli: Cli, source: str, tmp_path: Path, option: str
) -> None:
    target = tmp_path / "out"
    more = ["--json"] if option == "--json" else ["--output", str(target)]
    answers = write_lines(tmp_path / "a", AS_IT_STANDS)
    ended = cli("explain", source, answers, *more)
    assert ended.code == 1
    text = ended.out if option == "--json" else target.read_bytes()
    found = parse_explanation(text)
    assert (found.id, found.answer, found.withdrawn) == ("chain", "not-best", 0)
    kinds = [statement.kind for statement in found.statements]
    assert kinds == ["balance", "chain"]
    assert json.loads(text)["statements"][1]["transfers"][0] == {
        "topic": "t",
        "partition": 1,
        "from": "a",
        "to": "b",
    }


def test_assignments_belong_to_instances_by_id(cli: Cli, tmp_path: Path) -> None:
    source = write_lines(tmp_path / "r", CHAIN, OTHER)
    answers = write_lines(tmp_path / "a", EVEN, AS_IT_STANDS)
    ended = cli("explain", "--json", source, answers)
    assert [(document["id"], document["answer"]) for document in ended.documents] == [
        ("even", "best"),
        ("chain", "not-best"),
    ]


def test_bad_input_is_reported_and_the_rest_is_explained(
    cli: Cli, tmp_path: Path
) -> None:
    source = write_lines(tmp_path / "r", CHAIN, "{", OTHER)
    ended = cli("explain", "--json", source)
    assert ended.code == 2
    assert [document["id"] for document in ended.documents] == ["chain", "even"]
    (complaint,) = ended.complaints
    assert complaint.startswith(f"{source}:2:")
    answers = write_lines(tmp_path / "a", AS_IT_STANDS, {"format": "assignment/1"})
    ended = cli("explain", "--json", source, answers)
    assert ended.code == 2
    assert [document["id"] for document in ended.documents] == ["chain"]
    assert any("$.members" in complaint for complaint in ended.complaints)
    assert any("1 without an assignment: document 3" in o for o in ended.complaints)


def test_an_invalid_assignment_names_the_violation(cli: Cli, tmp_path: Path) -> None:
    source = write_lines(tmp_path / "r", OTHER)
    wrong = {**EVEN, "members": {"a": {"t": [0]}, "b": {"t": [0]}}}
    ended = cli("explain", source, write_lines(tmp_path / "a", wrong))
    text = " ".join(ended.out.decode().split())
    assert ended.code == 1
    assert "This assignment is invalid" in text
    assert "Invalid: assigned-twice, t:0" in text
    assert "Invalid: unassigned, t:1 (2 violations of this rule)." in text


@pytest.mark.parametrize("given", [False, True])
def test_a_policy_that_nothing_satisfies_is_code_1(
    cli: Cli, tmp_path: Path, *, given: bool
) -> None:
    source = write_lines(tmp_path / "r", OTHER)
    more = [write_lines(tmp_path / "a", EVEN)] if given else []
    ended = cli("explain", "--policy", "spread=0; stickiness", source, *more)
    assert ended.code == 1
    assert "No assignment satisfies the policy" in ended.out.decode()
    assert "Reason: " in ended.out.decode()


def test_what_a_limit_ends_is_not_called_the_best(cli: Cli, tmp_path: Path) -> None:
    lag = [(7919 * number) % 1000 * 10 for number in range(64)]
    members = {f"m{number}": ["t"] for number in range(9)}
    document = group_of("g", members, {"t": 64})
    document["topics"]["t"]["lag"] = lag
    source = write_lines(tmp_path / "r", document)
    policy = ("--policy", "per-topic; peak-lag", "--time-limit", "0.001")
    ended = cli("explain", *policy, source)
    assert ended.code == 0
    text = " ".join(ended.out.decode().split())
    assert "The best assignment found, which is not proved to be the best" in text
    assert "Reason: time limit of 0.001 s" in text
    assert "1. No allowed assignment has a peak-lag below " in text


def test_lag_that_is_not_stated_is_an_error(cli: Cli, source: str) -> None:
    ended = cli("explain", "--policy", "lag-aware", source)
    assert ended.code == 2
    assert ended.out == b""
    (complaint,) = ended.complaints
    assert complaint.startswith(f"{source}: document 1: ")


def test_only_one_file_can_be_standard_input(cli: Cli) -> None:
    assert cli("explain", "-", "-").code == 2


def test_long_lists_are_shortened_and_names_escaped(cli: Cli, tmp_path: Path) -> None:
    members = {f"m{number:03}\x1b[31m": ["t"] for number in range(300)}
    source = write_lines(tmp_path / "r", group_of("g", members, {"t": 1000}))
    heavy: Document = {name: {} for name in sorted(members)}
    heavy[min(members)] = {"t": list(range(1000))}
    answers = write_lines(tmp_path / "a", {"format": "assignment/1", "members": heavy})
    for more in ([], [answers]):
        ended = cli("explain", source, *more)
        text = ended.out.decode()
        assert len(text.splitlines()) < 24
        assert "\x1b" not in text
    assert "996 transfers in 996 chains" in text
    assert "… and 295 statements on chains more" in text
