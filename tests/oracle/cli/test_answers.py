"""``solve`` and ``assign``: one answer per readable rebalance, in the input's order."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from heuristics import ASSIGNORS
from tests.oracle.cli.commands import CHAIN, Cli, group_of, write_lines
from tests.support.strategies import SMALL, seeded_rebalance
from verify import judge, read_assignment, read_rebalance

EQUAL = group_of("g", {"a": ["t"], "b": ["t"]}, {"t": 3}, id="equal")


def test_solve_answers_each_rebalance_with_a_proof(cli: Cli, tmp_path: Path) -> None:
    drawn = [seeded_rebalance(seed, SMALL) for seed in range(40)]
    ended = cli("solve", write_lines(tmp_path / "r.jsonl", *drawn))
    assert ended.code == 0
    assert all(
        "do" in complaint and "not exist" in complaint for complaint in ended.complaints
    )
    assert len(ended.documents) == 40
    for document, answer in zip(drawn, ended.documents, strict=True):
        instance = read_rebalance(json.dumps(document))
        verdict = judge(instance, read_assignment(json.dumps(answer)))
        assert answer["status"] == "optimal"
        assert verdict["verdict"] == "valid"
        assert verdict["proved"]["dec_min"]
        assert verdict["proved"]["stickiness"]


def test_keys_are_sorted_and_order_in_the_document_does_not_show(
    cli: Cli, tmp_path: Path
) -> None:
    turned = {
        key: dict(reversed(value.items())) if isinstance(value, dict) else value
        for key, value in reversed(CHAIN.items())
    }
    first = cli("solve", write_lines(tmp_path / "a", CHAIN))
    second = cli("solve", write_lines(tmp_path / "b", turned))
    assert first.out == second.out
    again = json.dumps(first.documents[0], sort_keys=True, separators=(",", ":"))
    assert first.out.decode().strip() == again


@pytest.mark.parametrize("name", ASSIGNORS)
def test_assign_answers_as_each_assignor(cli: Cli, tmp_path: Path, name: str) -> None:
    lags = {"t": {"partitions": 3, "lag": [100_000, 60_000, 50_000]}}
    document = {**EQUAL, "topics": lags}
    ended = cli("assign", "--assignor", name, write_lines(tmp_path / "r", document))
    (answer,) = ended.documents
    assert ended.code == 0
    assert answer["assignor"] == name
    assert "status" not in answer
    assert "certificate" not in answer
    assert answer["figures"]["loads"] == [2, 1]
    if name == "range":
        assert answer["members"] == {"a": {"t": [0, 1]}, "b": {"t": [2]}}
        assert answer["figures"]["peak_lag"] == 160_000


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty: holds no document"),
        (b"\x00\xff\xfe garbage", "not UTF-8"),
        pytest.param(b"x" * 10_000_000, "not JSON", id="ten million letters"),
        (b'{"format": "rebalance/2"}', "'rebalance/2'; expected 'rebalance/1'"),
        (json.dumps(CHAIN, indent=1).encode()[:-5], "not JSON"),
        (gzip.compress(b"{}" * 999, mtime=0)[:-20], "gzip data end too early"),
        (b'{"a": 1, "a": 2}', "$.a: key given twice"),
    ],
)
def test_unreadable_input_is_one_line_and_code_2(
    cli: Cli, tmp_path: Path, content: bytes, reason: str
) -> None:
    path = tmp_path / "input"
    path.write_bytes(content)
    target = tmp_path / "answers"
    ended = cli("solve", "-o", target, path)
    assert ended.code == 2
    assert len(ended.complaints) == 1
    assert reason in ended.err
    assert len(ended.err) < 600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["input"]


def test_standard_input_and_gzip(cli: Cli) -> None:
    text = json.dumps(CHAIN).encode()
    plain = cli("solve", "-", stdin=text)
    packed = cli("solve", "-", stdin=gzip.compress(text))
    laid_out = cli("solve", "-", stdin=json.dumps(CHAIN, indent=2).encode())
    assert plain.code == 0
    assert plain.documents[0]["id"] == "chain"
    assert plain.out == packed.out == laid_out.out
    torn = cli("solve", "-", stdin=text[:-3])
    assert torn.code == 2
    assert torn.complaints[0].startswith("<stdin>:1: $: not JSON")


def test_output_takes_its_place_when_it_is_whole(cli: Cli, tmp_path: Path) -> None:
    source = write_lines(tmp_path / "r", CHAIN, "{bad", EQUAL)
    target = tmp_path / "answers.jsonl"
    target.write_text("old")
    target.chmod(0o640)
    ended = cli("solve", source, "--output", target)
    assert ended.code == 2
    assert ended.out == b""
    assert [json.loads(line)["id"] for line in target.read_text().splitlines()] == [
        "chain",
        "equal",
    ]
    assert target.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["answers.jsonl", "r"]
