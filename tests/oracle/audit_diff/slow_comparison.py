"""A slow comparison of two periods, row by row and in fractions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from pipeline.tables import read_table
from tests.oracle.audit_diff.drawn_tables import EPOCH

Row = dict[str, Any]

ORDER = (
    "invalid_partition_ms",
    "invalid_unknown",
    "invalid",
    "waiting_partition_ms",
    "needless_moves",
    "imbalance_partition_ms",
)


def joined_rows(folder: Path) -> list[Row]:
    """Return each rebalance with the answer of the client, and times in ms."""
    answers = {
        row["rebalance_id"]: row
        for row in read_table(folder, "answers").to_pylist()
        if row["assignor"] == "actual"
    }
    return [
        answers[row["rebalance_id"]]
        | row
        | {"begin": _ms(row["at"]), "end": _ms(row["until"])}
        for row in read_table(folder, "rebalances").to_pylist()
    ]


def _ms(at: Any) -> int | None:
    return None if at is None else round((at - EPOCH).total_seconds() * 1000)


def figures_between(rows: list[Row], begin: int, end: int) -> dict[str, Counter[str]]:
    """Count the figures of each group in a period, moment by moment."""
    found: dict[str, Counter[str]] = {}
    for row in rows:
        is_begun = row["begin"] is not None and begin <= row["begin"] < end
        moments = [at for at in _moments(row) if begin <= at < end]
        if not (is_begun or moments):
            continue
        sums = found.setdefault(row["group_id"], Counter())
        sums["rebalances"] += is_begun
        is_invalid = is_begun and row["verdict"] != "valid"
        sums["invalid"] += is_invalid
        sums["invalid_unknown"] += is_invalid and row["lasted_ms"] is None
        if is_begun and row["verdict"] == "valid":
            sums["needless_moves"] += row["moves"] - row["moves_least"]
        for name in ("unread", "shared", "waiting", "imbalance"):
            harm = row[f"{name}_partition_ms"] or 0
            of = "invalid" if name in ("unread", "shared") else name
            for _ in moments:
                sums[f"{of}_partition_ms"] += harm // row["lasted_ms"]
    return found


def _moments(row: Row) -> Iterator[int]:
    """Yield each millisecond of a state."""
    if row["begin"] is not None and row["end"] is not None:
        yield from range(row["begin"], row["end"])


def verdicts(
    old: dict[str, Counter[str]], new: dict[str, Counter[str]], lasts: tuple[int, int]
) -> dict[str, tuple[str, str]]:
    """Return the groups of both periods that differ: the figure, worse or better."""
    found = {}
    for group in old.keys() & new.keys():
        for name in ORDER:
            rates = [
                Fraction(figures[group][name], length)
                for figures, length in zip((old, new), lasts, strict=True)
            ]
            if rates[0] != rates[1] and max(rates) >= 2 * min(rates):
                found[group] = name, "worse" if rates[1] > rates[0] else "better"
                break
    return found


def gone_between(rows: list[Row], begin: int, end: int) -> set[str]:
    """Return the groups whose last rebalance ended, in a period, without members."""
    last: dict[str, Row] = {}
    for row in rows:
        last[row["group_id"]] = max(
            last.get(row["group_id"], row), row, key=_place_in_history
        )
    return {
        group
        for group, row in last.items()
        if row["ended"] == "empty" and row["end"] is not None
        if begin <= row["end"] < end
    }


def _place_in_history(row: Row) -> tuple[bool, int, int]:
    return row["begin"] is not None, row["begin"] or 0, row["source_offset"]
