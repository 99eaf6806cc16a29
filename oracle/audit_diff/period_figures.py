"""Figures of groups in a period of time.

A state that lasts beyond an end of the period has the part of its harm that is within:
harm is a number of partitions times the duration, so that it is divided by time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from oracle.audit_diff.compared_rows import (
    HARM_COLUMNS,
    UNKNOWN_MS,
    ComparedRows,
    Int64,
    numbers,
)
from oracle.audit_diff.diff_records import GroupFigures
from oracle.summary import plain, summed

Group = tuple[str, str]

_KEYS: Final = ("cluster", "group_id")
_OF: Final = {
    "unread_partition_ms": "invalid_partition_ms",
    "shared_partition_ms": "invalid_partition_ms",
    "waiting_partition_ms": "waiting_partition_ms",
    "imbalance_partition_ms": "imbalance_partition_ms",
}
"""Figure to which each column of harm is added."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """Times from ``begin`` to before ``end``, milliseconds since 1970."""

    begin: int
    end: int

    @property
    def lasts(self) -> int:
        """Milliseconds; at least 0."""
        return max(0, self.end - self.begin)

    def has(self, times: Int64) -> np.ndarray[Any, Any]:
        """Return which times are in the period; unknown ones are not."""
        found: np.ndarray[Any, Any] = (self.begin <= times) & (times < self.end)
        return found

    def overlap(self, begins: Int64, ends: Int64) -> Int64:
        """Return the milliseconds of each state within the period."""
        known = (begins != UNKNOWN_MS) & (ends != UNKNOWN_MS)
        within = np.minimum(ends, self.end) - np.maximum(begins, self.begin)
        found: Int64 = np.where(known, np.maximum(within, 0), 0)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodFigures:
    """Figures of the groups that are in a period, and of it as a whole."""

    groups: Mapping[Group, GroupFigures]
    rebalances: int
    without_time: int
    durations_unknown: int


def period_figures(rows: ComparedRows, period: Period) -> PeriodFigures:
    """Return the figures of each group with a rebalance, or a state, in a period."""
    sums: dict[Group, Counter[str]] = {}
    begun = period.has(rows.begins)
    lasting = period.overlap(rows.begins, rows.ends)
    for group, figures in _parts(rows, period, begun, lasting):
        sums.setdefault(group, Counter()).update(figures)
    lasted = numbers(rows.rebalances["lasted_ms"])
    return PeriodFigures(
        groups={
            group: GroupFigures(
                **{name: figures[name] for name in GroupFigures.model_fields}
            )
            for group, figures in sums.items()
            if figures["present"]
        },
        rebalances=int(begun.sum()),
        without_time=int((rows.begins == UNKNOWN_MS).sum()),
        durations_unknown=int((begun & (lasted == UNKNOWN_MS)).sum()),
    )


def _parts(
    rows: ComparedRows,
    period: Period,
    begun: np.ndarray[Any, Any],
    lasting: Int64,
) -> Iterator[tuple[Group, Mapping[str, int]]]:
    """Yield parts of the figures of groups, which add up."""
    yield from _added(
        rows.rebalances,
        {"rebalances": begun, "present": begun | (lasting > 0)},
    )
    lasted = rows.of_actual(numbers(rows.rebalances["lasted_ms"]))
    within = rows.of_actual(lasting)
    of_invalid = np.asarray(_are_invalid(rows.actual)) & rows.of_actual(begun)
    yield from _added(
        rows.actual,
        {"invalid": of_invalid, "invalid_unknown": of_invalid & (lasted == UNKNOWN_MS)},
    )
    for column in HARM_COLUMNS:
        harm = _within(numbers(rows.actual[column]), lasted, within)
        yield from _added(rows.actual, {_OF[column]: harm})
    moves = numbers(rows.units["needless_moves"])
    moved = np.where(period.has(rows.unit_times), moves, 0)
    yield from _added(rows.units, {"needless_moves": moved})


def _within(harm: Int64, lasted: Int64, within: Int64) -> Int64:
    """Return the part of the harm that is within the period, in partition-ms."""
    known = (harm != UNKNOWN_MS) & (lasted > 0)
    partitions = np.where(known, harm, 0) // np.where(known, lasted, 1)
    return np.asarray(partitions * within)


def _are_invalid(actual: pa.Table) -> pa.Array:
    judged_valid = pc.fill_null(pc.equal(plain(actual["verdict"]), "valid"), True)
    return pc.invert(judged_valid).combine_chunks()


def _added(
    rows: pa.Table, figures: Mapping[str, np.ndarray[Any, Any]]
) -> Iterator[tuple[Group, Mapping[str, int]]]:
    """Yield sums per group."""
    columns = {name: plain(rows[name]) for name in _KEYS}
    columns |= {n: pa.array(figure.astype(np.int64)) for n, figure in figures.items()}
    for row in summed(pa.table(columns), _KEYS).to_pylist():
        group = row.pop("cluster"), row.pop("group_id")
        yield group, row
