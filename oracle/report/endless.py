"""Groups that rebalance endlessly, by two signs.

A rolling restart of many members causes many generations in one hour, but it ends. A
group is listed if it has at least `BUSY` generations in each of `HOURS` consecutive
clock hours, or a cooperative rebalance of at least `ROUNDS` rounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from oracle.summary import hourly_generations, is_true

BUSY: Final = 30
"""Generations per hour: one every two minutes."""
HOURS: Final = 3
ROUNDS: Final = 10
GROUPS_LISTED: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class EndlessRow:
    """One group.

    Attributes
    ----------
    hours : int
        Longest run of consecutive busy hours.
    most : int
        Generations in its busiest hour.
    rounds : int
        Rounds of its longest cooperative rebalance; 0 without any.
    """

    cluster: str
    group: str
    hours: int
    most: int
    rounds: int


def endless_of(rebalances: pa.Table, episodes: pa.Table) -> tuple[EndlessRow, ...]:
    """Return the groups that rebalance endlessly, longest first."""
    hourly = hourly_generations(rebalances)
    runs, most = _runs(hourly), _largest(hourly, "generations")
    cooperative = episodes.filter(is_true(episodes["cooperative"]))
    rounds = _largest(cooperative, "rounds")
    rows = [
        EndlessRow(
            cluster=place[0],
            group=place[1],
            hours=runs.get(place, 0),
            most=most.get(place, 0),
            rounds=rounds.get(place, 0),
        )
        for place in runs.keys() | rounds.keys()
        if runs.get(place, 0) >= HOURS or rounds.get(place, 0) >= ROUNDS
    ]
    return tuple(
        sorted(rows, key=lambda row: (-row.hours, -row.rounds, row.cluster, row.group))
    )


def _largest(table: pa.Table, column: str) -> dict[tuple[str, str], int]:
    grouped = table.group_by(["cluster", "group_id"], use_threads=False)
    return {
        (row["cluster"], row["group_id"]): row[f"{column}_max"] or 0
        for row in grouped.aggregate([(column, "max")]).to_pylist()
    }


def _runs(hourly: pa.Table) -> dict[tuple[str, str], int]:
    """Return the longest run of busy hours per group; hours are in order."""
    busy = hourly.filter(pc.greater_equal(hourly["generations"], BUSY))
    if not len(busy):
        return {}
    hours = busy["hour"].to_numpy()
    same = np.ones(len(busy) - 1, dtype=np.bool_)
    for name in ("cluster", "group_id"):
        codes = busy[name].combine_chunks().dictionary_encode().indices.to_numpy()
        same &= codes[1:] == codes[:-1]
    starts = np.concatenate([[True], ~(same & (hours[1:] == hours[:-1] + 1))])
    run = np.cumsum(starts)
    counted = pa.table(
        {name: busy[name] for name in ("cluster", "group_id")} | {"run": pa.array(run)}
    )
    keys = ["cluster", "group_id", "run"]
    lengths = counted.group_by(keys, use_threads=False).aggregate([([], "count_all")])
    return _largest(lengths, "count_all")
