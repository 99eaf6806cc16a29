"""``--max-partitions``: the size limit of instances, in every subcommand."""

from __future__ import annotations

from pathlib import Path

from rebalance import (
    DocumentError,
    Rebalance,
    read_rebalances,
    rebalance_of,
)
from rebalance.arrow import from_table, to_table
from tests.oracle.cli.commands import group_of, write_lines

SMALL = group_of("g", {"a": ["t"], "b": ["t"]}, {"t": 3}, id="small")
LARGE = group_of("g", {"a": ["t", "u"]}, {"t": 2, "u": 2}, id="large")
HUGE = group_of("g", {}, {"t": 20_000_000}, id="huge")
REASON = "$.topics.u.partitions: 4 partitions up to here, above the limit 3"


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
