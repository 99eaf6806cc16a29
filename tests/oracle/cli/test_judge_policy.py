"""``judge`` on answers that state a policy: the proof of each objective."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.oracle.cli.commands import CHAIN, Cli, write_lines
from tests.support.shapes import Document, member, rebalance
from tests.support.snapshots import check_snapshot

GROUP = rebalance(
    {"t": {"partitions": 5, "lag": [30, 5, 5, 5, 5]}},
    {"a": member(["t"], {"t": [0, 1, 2]}), "b": member(["t"], {"t": [3, 4]})},
)
CROWD: Document = {"kind": "crowd", "at_least": 30, "bound": 35}
BY_TERMS: Document = {"by": "terms", "terms": [CROWD]}
BY_SEARCH: Document = {"by": "search", "engine": "an engine"}


def stated(policy: str, members: Document, *levels: Document, **more: Any) -> Document:
    return {
        "format": "assignment/1",
        "status": "optimal",
        "members": members,
        "policy": policy,
        "objectives": list(levels),
        **more,
    }


LEVELS: tuple[Document, ...] = (
    {"of": "peak-lag", "value": 35, "bound": 35, "proof": BY_TERMS},
    {"of": "stickiness", "value": 1, "bound": 1, "proof": BY_SEARCH},
)
LAG_FIRST = "dec-min; peak-lag, stickiness"
ANSWER = stated(LAG_FIRST, {"a": {"t": [0, 1]}, "b": {"t": [2, 3, 4]}}, *LEVELS)
STAYING = stated(LAG_FIRST, {"a": {"t": [0, 1, 2]}, "b": {"t": [3, 4]}}, *LEVELS)


class Pair:
    """Writes one instance and one answer, and has them judged."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, cli: Cli, answer: Document, *options: str) -> Any:
        first = write_lines(self.folder / "i", GROUP)
        second = write_lines(self.folder / "a", answer)
        return cli("judge", *options, first, second)


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    return Pair(tmp_path)


def test_each_objective_states_its_proof(cli: Cli, pair: Pair) -> None:
    ended = pair(cli, ANSWER)
    (verdict,) = ended.documents
    assert ended.code == 0
    assert verdict["policy"]["balance_met"]
    levels = [
        (objective["rests_on"], objective["proved"])
        for objective in verdict["objectives"]
    ]
    assert levels == [("terms", True), ("search", False)]
    assert verdict["objectives"][1]["engine"] == "an engine"


def test_against_the_optimum_of_its_own_policy(cli: Cli, pair: Pair) -> None:
    (verdict,) = pair(cli, STAYING, "--against", "optimum").documents
    against = verdict["against"]
    assert (against["policy"], against["status"]) == (LAG_FIRST, "optimal")
    assert [objective["value"] for objective in against["objectives"]] == [35, 1]
    assert against["gap"] == {"peak-lag": 5, "stickiness": -1}
    assert against["figures"]["peak_lag"] == 35


def test_what_is_not_allowed_has_no_gap(cli: Cli, pair: Pair) -> None:
    members = {"a": {"t": [0, 1, 2, 3, 4]}, "b": {}}
    answer = stated("per-topic; peak-lag", members)
    (verdict,) = pair(cli, answer, "--against", "optimum").documents
    assert verdict["against"]["status"] == "optimal"
    assert verdict["against"]["gap"] is None


def test_an_infeasible_optimum(cli: Cli, pair: Pair) -> None:
    answer = stated("spread=0", {"a": {}, "b": {}}, status="infeasible", reason="odd")
    ended = pair(cli, answer, "--against", "optimum")
    (verdict,) = ended.documents
    assert ended.code == 1
    assert verdict["evidence"]["status"] == {
        "claimed": "infeasible",
        "reason": "odd",
        "proved": True,
        "because": {"spread": 1},
    }
    against = verdict["against"]
    assert against["status"] == "infeasible"
    assert against["reason"]
    assert (against["figures"], against["gap"]) == ({}, None)


def test_lists_of_loads_are_equal_or_without_gap(cli: Cli, pair: Pair) -> None:
    for members, gap in (
        ({"a": {"t": [0, 1, 2]}, "b": {"t": [3, 4]}}, {"stickiness": 0, "load": 0}),
        ({"a": {"t": [0, 1, 2, 3]}, "b": {"t": [4]}}, {"stickiness": 1}),
    ):
        answer = stated("none; stickiness, load", members)
        (verdict,) = pair(cli, answer, "--against", "optimum").documents
        assert verdict["against"]["gap"] == gap


def test_a_policy_that_cannot_be_judged_for_an_instance(
    cli: Cli, tmp_path: Path
) -> None:
    """Without lag, the judge counts 0, and no engine answers."""
    names = sorted(CHAIN["members"])
    first = write_lines(tmp_path / "i", CHAIN)
    answer = stated("none; peak-lag", {name: {} for name in names})
    second = write_lines(tmp_path / "a", answer)
    ended = cli("judge", "--against", "optimum", first, second)
    assert ended.code == 2
    assert "no topic tells any" in ended.complaints[0]


def test_a_terminal_shows_a_table_of_objectives(person: Cli, pair: Pair) -> None:
    text = pair(person, ANSWER, "--against", "optimum").out.decode()
    check_snapshot("judge/objectives.txt", text)


def test_a_terminal_shows_the_evidence_of_an_objective(person: Cli, pair: Pair) -> None:
    wrong = json.loads(json.dumps(ANSWER))
    wrong["objectives"][0]["proof"]["terms"][0]["bound"] = 36
    wrong["objectives"][0]["bound"] = 36
    wrong["policy"] = "dec-min; peak-lag, stickiness; max-moves=0"
    text = pair(person, wrong).out.decode()
    assert "budget not met" in text
    assert "peak-lag, claimed: {'bound': 36}" in text
    assert "'kind': 'crowd'" in text


def test_the_optimum_required_is_that_of_the_stated_policy(
    cli: Cli, person: Cli, pair: Pair
) -> None:
    assert pair(cli, ANSWER, "--require", "optimum").code == 0
    assert pair(cli, STAYING, "--require", "optimum").code == 1
    text = pair(person, STAYING, "--require", "optimum").out.decode()
    assert "gap in stickiness of -1: it is worse in an objective that" in text


def test_a_search_is_no_proof_where_one_is_required(cli: Cli, pair: Pair) -> None:
    assert pair(cli, ANSWER).code == 0
    assert pair(cli, ANSWER, "--require", "proved").code == 1


def test_no_claim_is_no_proof(cli: Cli, pair: Pair) -> None:
    members = {"a": {"t": [0, 1, 2]}, "b": {"t": [3, 4]}}
    plain = {"format": "assignment/1", "members": members}
    assert pair(cli, plain).code == 0
    assert pair(cli, plain, "--require", "proved").code == 1


def test_a_certificate_is_a_proof(cli: Cli, tmp_path: Path) -> None:
    source, target = write_lines(tmp_path / "i", CHAIN), tmp_path / "solved"
    assert cli("solve", "-o", target, source).code == 0
    ended = cli("judge", "--require", "proved", source, target)
    assert ended.code == 0
    assert ended.documents[0]["status"] == {"claimed": "optimal", "found": "proved"}


def test_a_person_reads_the_status(person: Cli, pair: Pair) -> None:
    text = pair(person, ANSWER).out.decode()
    assert "status: claimed optimal, found search" in text
