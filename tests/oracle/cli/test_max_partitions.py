"""``--max-partitions``: the size limit of instances, in every subcommand."""

from __future__ import annotations

from pathlib import Path

import pytest

from oracle.cli.options.common import MAX_PARTITIONS
from rebalance import MAX_PARTITIONS as DEFAULT
from rebalance import (
    DocumentError,
    Rebalance,
    read_rebalances,
    rebalance_of,
)
from rebalance.arrow import from_table, to_table
from tests.oracle.cli.commands import Cli, group_of, write_lines

SMALL = group_of("g", {"a": ["t"], "b": ["t"]}, {"t": 3}, id="small")
LARGE = group_of("g", {"a": ["t", "u"]}, {"t": 2, "u": 2}, id="large")
HUGE = group_of("g", {}, {"t": 20_000_000}, id="huge")
REASON = "$.topics.u.partitions: 4 partitions up to here, above the limit 3"

VERBS = pytest.mark.parametrize(
    "verb",
    [
        ("solve",),
        ("assign", "--assignor", "range"),
        ("compare",),
        ("explain", "--json"),
        ("front",),
    ],
)


@VERBS
def test_a_larger_instance_is_rejected_and_the_others_are_answered(
    cli: Cli, tmp_path: Path, verb: tuple[str, ...]
) -> None:
    path = write_lines(tmp_path / "r.jsonl", LARGE, SMALL)
    ended = cli(*verb, "--max-partitions", "3", path)
    assert ended.code == 2
    assert [document["id"] for document in ended.documents] == ["small"]
    assert ended.complaints == [f"{path}:1: {REASON}"]


@VERBS
def test_an_instance_as_large_as_the_limit_is_answered(
    cli: Cli, tmp_path: Path, verb: tuple[str, ...]
) -> None:
    path = write_lines(tmp_path / "r.jsonl", LARGE)
    assert cli(*verb, "--max-partitions", "4", path).code == 0


@pytest.mark.parametrize("against", [(), ("--against", "optimum")])
def test_judge_reports_a_larger_instance_as_unreadable(
    cli: Cli, tmp_path: Path, against: tuple[str, ...]
) -> None:
    path = write_lines(tmp_path / "r.jsonl", LARGE, SMALL)
    answers = write_lines(tmp_path / "a.jsonl", *cli("solve", path).documents)
    ended = cli("judge", *against, "--max-partitions", "3", path, answers)
    assert ended.code == 2
    assert [document["verdict"] for document in ended.documents] == [
        "unreadable",
        "valid",
    ]
    assert ended.complaints == [f"{path}:1: {REASON}"]
    assert cli("judge", *against, "--max-partitions", "4", path, answers).code == 0


@pytest.mark.parametrize("value", ["0", "-1", "2147483648", "x"])
def test_a_limit_that_is_no_number_of_partitions_is_a_usage_error(
    cli: Cli, tmp_path: Path, value: str
) -> None:
    path = write_lines(tmp_path / "r.jsonl", SMALL)
    ended = cli("solve", "--max-partitions", value, path)
    assert ended.code == 2
    assert "--max-partitions" in ended.err


def test_the_default_is_that_of_the_reader() -> None:
    assert MAX_PARTITIONS == DEFAULT


def test_the_reader_accepts_more_partitions_if_the_caller_raises_the_limit(
    tmp_path: Path,
) -> None:
    path = str(write_lines(tmp_path / "r.jsonl", HUGE))
    (rejected,) = read_rebalances(path)
    assert isinstance(rejected, DocumentError)
    assert "above the limit 10000000" in str(rejected)
    (accepted,) = read_rebalances(path, max_partitions=20_000_000)
    assert isinstance(accepted, Rebalance)


def test_arrow_tables_have_the_same_limit() -> None:
    table = to_table([rebalance_of(LARGE), rebalance_of(SMALL)])
    rejected, accepted = from_table(table, max_partitions=3)
    assert isinstance(rejected, DocumentError)
    assert str(rejected) == REASON
    assert accepted == rebalance_of(SMALL)
