"""``compare``: every assignor and the optimum, with figures from the judge."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from heuristics import ASSIGNORS
from rebalance import document_of, instance_of, parse_rebalance, plain_of
from tests.oracle.cli.commands import CHAIN, Cli, group_of, write_lines
from tests.support.snapshots import check_snapshot
from tests.support.strategies import SMALL, seeded_rebalance
from verify import judge, read_rebalance

EQUAL = group_of("g", {"a": ["t"], "b": ["t"]}, {"t": 3}, id="equal")


@pytest.mark.heavy
def test_every_assignor_is_run_and_judged(cli: Cli, tmp_path: Path) -> None:
    drawn = [seeded_rebalance(seed, SMALL) for seed in range(25)]
    ended = cli("compare", write_lines(tmp_path / "r", *drawn))
    assert ended.code == 0
    names = ["optimum", "kip54-sticky", *ASSIGNORS]
    for document, comparison in zip(drawn, ended.documents, strict=True):
        answers = comparison["answers"]
        instance = instance_of(parse_rebalance(json.dumps(document)))
        assert [answer["assignor"] for answer in answers] == names
        for answer in answers[2:]:
            assignor = ASSIGNORS[answer["assignor"]]
            reason = assignor.refuses(instance)
            if reason is not None:
                assert answer["refused"] == reason
                continue
            given = plain_of(
                document_of(instance, assignor.assign(instance), assignor="x")
            )
            found = judge(read_rebalance(json.dumps(document)), given)
            assert answer["figures"] == found["figures"]
            best = answers[0]["figures"]
            if found["figures"]["kip54_balanced"]:
                least = answers[1]["figures"]["moves"]
                assert answer["kip54_gap"] == found["figures"]["moves"] - least >= 0
            else:
                assert answer["kip54_gap"] is None
            for name, gap in answer["gap"].items():
                assert gap == found["figures"][name] - best[name]


def test_the_chain(cli: Cli, tmp_path: Path) -> None:
    (comparison,) = cli("compare", write_lines(tmp_path / "r", CHAIN)).documents
    best = comparison["answers"][0]
    assert comparison["format"] == "comparison/1"
    assert comparison["peak_lag_bound"] is None
    assert best["status"] == "optimal"
    assert best["gap"] == {"moves": 0, "kip54_score": 0}
    assert best["kip54_gap"] == 3
    by_kip54 = comparison["answers"][1]
    assert (by_kip54["assignor"], by_kip54["status"]) == ("kip54-sticky", "optimal")
    assert by_kip54["gap"] == {"moves": -3, "kip54_score": 6}
    assert by_kip54["kip54_gap"] == 0
    by_name = {answer["assignor"]: answer for answer in comparison["answers"]}
    assert by_name["lag-aware"]["applies"] is False
    assert "lag" in by_name["lag-aware"]["refused"]
    assert by_name["range"]["gap"]["kip54_score"] == 6


def test_assignors_are_selected(cli: Cli, tmp_path: Path) -> None:
    source = write_lines(tmp_path / "r", CHAIN)
    (found,) = cli("compare", source, "--assignors", "sticky, range").documents
    answers = found["answers"]
    assert [answer["assignor"] for answer in answers] == ["optimum", "range", "sticky"]
    assert [answer["kip54_gap"] for answer in answers] == [None] * 3
    assert answers[1]["gap"]["kip54_score"] == 6


def test_figures_by_kip54_are_empty_without_it(person: Cli, tmp_path: Path) -> None:
    source = write_lines(tmp_path / "r", CHAIN, CHAIN)
    text = person("compare", source, "--assignors", "range").out.decode()
    check_snapshot("compare/without-kip54.txt", text)


def test_an_unknown_assignor_is_refused_as_by_the_audit(
    cli: Cli, tmp_path: Path
) -> None:
    source = write_lines(tmp_path / "r", CHAIN)
    out = tmp_path / "out"
    ended = cli("compare", source, "-o", out, "--assignors", "range,nobody")
    audited = cli("audit", source, "--out", out, "--assignors", "range,nobody")
    assert (ended.code, ended.err) == (audited.code, audited.err)
    assert ended.code == 2
    assert "'nobody': is not an assignor; there are: actual, optimum" in ended.err
    assert not out.exists()


def test_lag_has_its_bound(cli: Cli, tmp_path: Path) -> None:
    topics = {"t": {"partitions": 3, "lag": [100_000, 60_000, 50_000]}}
    source = write_lines(tmp_path / "r", {**EQUAL, "topics": topics})
    (comparison,) = cli("compare", source).documents
    assert comparison["peak_lag_bound"] == 105_000
    peaks = {
        answer["assignor"]: answer["figures"]["peak_lag"]
        for answer in comparison["answers"]
    }
    assert peaks["range"] == 160_000
    assert peaks["lag-aware"] == 110_000


def test_a_terminal_shows_tables_and_a_summary(person: Cli, tmp_path: Path) -> None:
    source = write_lines(tmp_path / "r", CHAIN, EQUAL, "{")
    ended = person("compare", source)
    text = ended.out.decode()
    assert ended.code == 2
    check_snapshot("compare/two-rebalances.txt", text)
    assert f"{source}:3: " in ended.err
    assert len(person("compare", "--json", source).documents) == 2


def test_without_readable_input_no_file_is_written(cli: Cli, tmp_path: Path) -> None:
    target = tmp_path / "out"
    ended = cli("compare", "-o", target, write_lines(tmp_path / "r", "{}", "[]"))
    assert ended.code == 2
    assert len(ended.complaints) == 2
    assert not target.exists()


def test_needless_moves_are_not_at_the_optimum(person: Cli, tmp_path: Path) -> None:
    """Range is dec-min balanced here, but has needless moves."""
    document = group_of("g", {"a": ["t"], "b": ["t"]}, {"t": 2})
    document["members"]["a"] |= {"owned": {"t": [1]}, "generation": 1}
    document["members"]["b"] |= {"owned": {"t": [0]}, "generation": 1}
    source = write_lines(tmp_path / "r", document, document)
    check_snapshot("compare/needless.txt", person("compare", source).out.decode())
