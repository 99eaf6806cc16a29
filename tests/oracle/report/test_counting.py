"""The counting rules of the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from oracle.report.assignment_diff import (
    MEMBERS_LISTED,
    MEMBERS_SHOWN,
    NUMBERS_SHOWN,
    assignment_diff_of,
)
from oracle.report.load import system_allocator
from oracle.report.outcomes import OutcomeCounts
from oracle.report.proof import Hop, chain_of
from oracle.summary import (
    ANSWER_COLUMNS,
    INVALID,
    NEEDLESS,
    OPEN,
    OPTIMUM,
    UNBALANCED,
    medians,
    merge_assignor_counts,
    outcome_of,
    partial_assignor_counts,
    percent_above,
)
from pipeline.tables import read_table
from tests.oracle.cli.commands import group_of
from tests.oracle.report.audits import Audit
from tests.oracle.report.scenes import BEST, RESTLESS, even, small_audit
from verify import case_of, judge

TYPES = {
    "verdict": pa.string(),
    "at_optimum": pa.bool_(),
    "dec_min_balanced": pa.bool_(),
}


def frame(**columns: list[Any]) -> pa.Table:
    return pa.table(
        {
            name: pa.array(values, TYPES.get(name, pa.int64()))
            for name, values in columns.items()
        }
    )


@pytest.mark.parametrize(
    ("verdict", "balanced", "moves", "least", "at_optimum", "outcome"),
    [
        ("valid", True, 2, 2, True, OPTIMUM),
        ("valid", True, 3, 2, False, NEEDLESS),
        ("valid", False, 1, 2, False, UNBALANCED),
        ("valid", False, 9, 2, False, UNBALANCED),
        ("invalid", True, 2, 2, False, INVALID),
        ("invalid", None, None, None, None, INVALID),
        ("valid", True, 3, None, None, OPEN),
        ("valid", True, 3, 2, None, OPEN),
        ("valid", True, 2, 2, False, OPEN),
    ],
)
def test_each_rebalance_has_one_outcome(
    verdict: str,
    balanced: bool | None,
    moves: int | None,
    least: int | None,
    at_optimum: bool | None,
    outcome: str,
) -> None:
    rows = frame(
        verdict=[verdict],
        dec_min_balanced=[balanced],
        moves=[moves],
        moves_least=[least],
        at_optimum=[at_optimum],
    )
    assert outcome_of(rows).to_pylist() == [outcome]
    counts = OutcomeCounts(**{outcome: 1})
    assert counts.total == 1
    assert counts.judged == (outcome != OPEN)
    assert counts.wrong == (outcome in {NEEDLESS, UNBALANCED, INVALID})


def test_percent_above_a_bound_is_rounded_up() -> None:
    rows = frame(peak_lag=[100, 101, 1012, 0, 3], peak_lag_bound=[100, 100, 1000, 0, 1])
    assert percent_above(rows).to_pylist() == [0, 1, 2, 0, 200]


def test_large_percentages_have_three_digits() -> None:
    rows = frame(
        peak_lag=[1099, 1100, 13345, 2**63 - 1], peak_lag_bound=[100, 100, 100, 1]
    )
    assert percent_above(rows).to_pylist() == [999, 1000, 13300, 10**18]


def test_episodes_without_a_least_do_not_count_as_moves(tmp_path: Path) -> None:
    """Moves and the least possible are sums over the same episodes."""
    audit = Audit()
    audit.episode(even("feed"), RESTLESS, first=1, last=2)
    audit.episode(even("feed"), RESTLESS, first=3, last=4)
    audit.rows["episodes"][1] |= {"moves_least": None, "at_optimum": None}
    (row,) = audit.facts(tmp_path).episodes
    assert (row.finished, row.moves, row.moves_least) == (2, 4, 1)


def test_a_hop_is_of_a_topic_that_the_taker_wants() -> None:
    wants = {"a": ["s", "t"], "b": ["t"]}
    instance = group_of("g", wants, {"s": 1, "t": 2})
    answer = {"members": {"a": {"s": [0], "t": [0, 1]}, "b": {}}}
    chain = chain_of(instance, answer, judge(instance, answer))
    assert chain is not None
    assert chain.hops == (Hop(giver="a", taker="b", topic="t", partition=0),)
    assert (chain.giver_load, chain.taker_load) == (3, 0)
    assert chain_of(instance, BEST, {"evidence": {}}) is None


def test_truncated_drawings_state_the_truncation() -> None:
    members = MEMBERS_SHOWN + MEMBERS_LISTED + 12
    size = 100 * members
    names = [f"m{number:02}" for number in range(members)]
    document = group_of("g", {name: ["t"] for name in names}, {"t": size})
    held = {name: {"t": list(range(n, size, members))} for n, name in enumerate(names)}
    drawn = assignment_diff_of(case_of(document), held, held, set())
    assert len(drawn.rows) == MEMBERS_SHOWN
    assert len(drawn.others) == MEMBERS_LISTED
    assert drawn.members_left_out == 12
    assert len({row.member for row in (*drawn.rows, *drawn.others)}) == members - 12
    for row in (*drawn.rows, *drawn.others):
        (piece,) = row.after.pieces
        assert row.after.load == piece.count == 100
        assert len(piece.numbers) <= NUMBERS_SHOWN + 3
        assert piece.numbers.endswith(", …")


def test_members_with_most_to_see_are_drawn() -> None:
    names = [f"m{number:02}" for number in range(30)]
    document = group_of("g", {name: ["t"] for name in names}, {"t": 30})
    before = {name: {"t": [n]} for n, name in enumerate(names)}
    for name, owned in before.items():
        document["members"][name] |= {"owned": owned, "generation": 1}
    after = before | {"m28": {"t": [29]}, "m29": {"t": [28]}}
    drawn = assignment_diff_of(case_of(document), after, before, set())
    shown = [row.member for row in drawn.rows]
    assert {*shown, *(row.member for row in drawn.others)} == {*names}
    assert drawn.members_left_out == 0
    assert shown[-2:] == ["m28", "m29"]
    swapped = drawn.rows[-1]
    assert [piece.fate for piece in swapped.before.pieces] == ["needless"]
    assert [piece.fate for piece in swapped.after.pieces] == ["needless"]
    assert [piece.fate for piece in swapped.best.pieces] == ["kept"]
    assert sum(row.after.load for row in drawn.rows) == MEMBERS_SHOWN


@pytest.mark.heavy
def test_counts_of_parts_add_up(tmp_path: Path) -> None:
    """Counts do not depend on how the answers are divided into batches."""
    answers = read_table(small_audit().write(tmp_path), "answers")
    columns = answers.select(ANSWER_COLUMNS)
    coded = columns.set_column(0, "assignor", columns["assignor"].dictionary_encode())
    (whole,) = coded.combine_chunks().to_batches()
    parts = [whole.slice(at, 3) for at in range(0, len(whole), 3)]
    merged = merge_assignor_counts(map(partial_assignor_counts, parts))
    once = merge_assignor_counts([partial_assignor_counts(whole)])
    assert merged.proved == once.proved == 12
    for name in ("rebalances", "answers", "lag"):
        tables = [getattr(counts, name).to_pylist() for counts in (merged, once)]
        rows = [{tuple(row.items()) for row in table} for table in tables]
        assert rows[0] == rows[1]
        assert len(rows[0]) == len(tables[0]) > 2
    assert sum(merged.rebalances["rebalances"].to_pylist()) == len(answers)


def test_medians_of_a_histogram() -> None:
    histogram = pa.table(
        {
            "name": ["b", "a", "a", "a", None],
            "percent": [7, 5, 0, 9, 4],
            "rebalances": [1, 1, 2, 1, 3],
        }
    )
    found = {row["name"]: row for row in medians(histogram, ["name"]).to_pylist()}
    assert found["a"] == {"name": "a", "known": 4, "at_bound": 2, "median": 5}
    assert found["b"] == {"name": "b", "known": 1, "at_bound": 0, "median": 7}
    assert found[None] == {"name": None, "known": 3, "at_bound": 0, "median": 4}
    assert medians(histogram.slice(0, 0), ["name"]).num_rows == 0


def test_the_allocator_of_the_page_is_not_left_behind() -> None:
    before = pa.default_memory_pool().backend_name
    with system_allocator():
        assert pa.default_memory_pool().backend_name == "system"
    assert pa.default_memory_pool().backend_name == before
