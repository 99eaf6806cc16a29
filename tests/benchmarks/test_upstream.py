"""The harness of `benchmarks.upstream`: random groups, counts, and tables."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from benchmarks.upstream import main
from benchmarks.upstream_draws import DRAWN, draw
from benchmarks.upstream_picture import picture_of
from benchmarks.upstream_runs import SolvedCase, answer_of, lines_of
from benchmarks.upstream_table import BARS, grouped, page_part
from conformance.clients import Adapter, Answer, Program, Verdict
from heuristics import ASSIGNORS, CooperativeStickyAssignor
from heuristics.cooperative_sticky import MOST_ROUNDS
from rebalance import Assignment, document_of, instance_of, parse_rebalance
from tests.references.sticky import is_mixed
from tests.support.shapes import Document, member, rebalance

Line = dict[str, Any]


class Fake(Adapter):
    """A substitute for Kafka: answers as our sticky, by round, or all to one member."""

    def __init__(self, way: str) -> None:
        super().__init__(Program(name="fake", argv=()))
        self.way, self.answered = way, 0

    def answer(self, rebalance: bytes) -> Answer:
        self.answered += 1
        instance = instance_of(parse_rebalance(rebalance))
        given = ASSIGNORS["sticky"].assign(instance)
        if self.way == "rounds":
            given = CooperativeStickyAssignor().first_round(instance).given
        if self.way == "restless":
            given = Assignment(assignee=given.assignee * 0 - 1)
        if self.way == "all to the first":
            given = Assignment(assignee=given.assignee * 0)
        said = document_of(instance, given, assignor="fake")
        return Answer(verdict=Verdict.ANSWERED, assignment=said)


def lines(way: str = "sticky", seeds: int = 4) -> list[Line]:
    found: list[Line] = []
    for version, kind in product(("4.4.0", "3.9.2"), ("mixed, churned", "equal, new")):
        keys = {"kafka": version, "assignor": "sticky", "kind": kind}
        cases = [SolvedCase.of(draw(kind, seed)) for seed in range(seeds)]
        found += lines_of(Fake(way), ABOUT | keys, "sticky", cases)
    return found


ABOUT = {"date": "2026-01-01", "machine": "a machine"}
SHARED = rebalance({"t": 4}, {"a": member(["t"], {"t": [0, 1]}), "b": member(["t"])})


@pytest.mark.parametrize("kind", DRAWN)
def test_random_groups_match_their_kind(kind: str) -> None:
    documents = [draw(kind, seed) for seed in range(30)]
    assert documents == [draw(kind, seed) for seed in range(30)]
    assert len({str(document) for document in documents}) == 30
    members = [member for d in documents for member in d["members"].values()]
    wanted, has = kind.split(", ")
    assert (sum(map(is_mixed, documents)) > 20) == (wanted == "mixed")
    assert any("owned" in member for member in members) == (has != "new")
    assert all("rack" in member for member in members) == (has == "racks")
    assert any(map(_is_behind, documents)) == (has == "stale")


def _is_behind(document: Document) -> bool:
    keys = {member.get("generation", -1) for member in document["members"].values()}
    return len(keys - {-1}) > 1


def test_a_run_counts_all_three() -> None:
    keys, cases = {"kind": "k"}, [SolvedCase.of(SHARED)]
    (same,) = lines_of(Fake("sticky"), keys, "sticky", cases)
    assert (same["equal"], same["verdict"]) == (True, "answered")
    assert same["theirs"] == {"score": 0, "squares": 8, "moves": 0, "far": 0}
    (worse,) = lines_of(Fake("all to the first"), keys, "sticky", cases)
    assert not worse["equal"]
    assert worse["theirs"] == {"score": 4, "squares": 16, "moves": 0, "far": 0}
    assert worse["ours"] == worse["optimum"] == same["theirs"]


def test_an_invalid_answer_is_none() -> None:
    members = {"a": member(["t"]), "b": member(["u"])}
    case = SolvedCase.of(rebalance({"t": 1, "u": 1}, members))
    assert answer_of(Fake("all to the first"), "sticky", case) == (None, "unsubscribed")


def test_cooperative_answers_are_those_of_the_stable_state() -> None:
    members = {"a": member(["t"], {"t": [0, 1, 2, 3]}), "b": member(["t"])}
    case = SolvedCase.of(rebalance({"t": 4}, members))
    fake = Fake("rounds")
    answer, verdict = answer_of(fake, "cooperative-sticky", case)
    assert (fake.answered, verdict) == (2, "answered")
    assert answer is not None
    assert answer.members == {"a": {"t": [0, 1]}, "b": {"t": [2, 3]}}


def test_groups_that_never_become_stable_are_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fake, case = Fake("restless"), SolvedCase.of(SHARED)
    monkeypatch.setattr(
        "benchmarks.upstream_runs.judged", lambda answer, *_, **__: answer
    )
    assert answer_of(fake, "cooperative-sticky", case) == (None, "restless")
    assert fake.answered == MOST_ROUNDS


def test_releases_that_answer_the_same_are_one() -> None:
    every = lines()
    assert {key[0] for key in grouped(every)} == {"4.4.0, 3.9.2"}
    every[-1] = every[-1] | {"theirs": every[-1]["theirs"] | {"moves": 99}}
    assert {key[0] for key in grouped(every)} == {"4.4.0", "3.9.2"}


def test_the_page_states_the_counts() -> None:
    page = page_part(lines())
    assert (
        "| 4.4.0, 3.9.2 | sticky | mixed, churned | 4 | 100.0% | 100.0% | 0 |" in page
    )
    assert "Of the 2 rows above, 2 are left out here" in page
    worse = page_part(
        [
            line | {"theirs": line["theirs"] | {"moves": line["ours"]["moves"] + 5}}
            for line in lines()
        ]
    )
    row = "| 4.4.0, 3.9.2 | sticky | equal, new | moves | 5 | 5 | 5 | 5 | 5 | +5.000 "
    assert row + "| 100.0% | 0.0% |" in worse
    counts = "| 0 | 0 | 0 | 0 | 0 | 0 | 0 | 4 | 0 |"
    assert f"| 4.4.0, 3.9.2 | sticky | equal, new {counts}" in worse


def test_each_difference_is_in_one_bar() -> None:
    for difference in range(-20, 21):
        assert sum(is_in(difference) for _, is_in in BARS) == 1


@pytest.mark.heavy
def test_the_picture_is_the_same_each_time() -> None:
    picture = picture_of(lines())
    assert picture.startswith(b"\x89PNG")
    assert picture == picture_of(lines())


def test_runs_are_written_and_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs, page = tmp_path / "runs.jsonl", tmp_path / "page.md"
    runs.write_text("".join(json.dumps(line) + "\n" for line in lines()))
    page.write_text("before\n<!-- measured: start -->\nold\n<!-- measured: end -->\n")
    main(["--read", str(runs), "--page", str(page)])
    printed = capsys.readouterr().out
    text = page.read_text()
    assert printed.strip() in text
    assert text.startswith("before\n")
    assert "old" not in text
