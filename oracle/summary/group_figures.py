"""Figures per group for alerts: numbers of rebalances, moves, and partition-time."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from oracle.summary.arrow_columns import Column, equals, is_true, ones, plain, summed
from oracle.summary.outcome_columns import INVALID, UNBALANCED
from oracle.summary.unit_rows import COLUMNS, client_units

FIGURES: Final = (
    "rebalances",
    "invalid",
    "unbalanced",
    "needless_moves",
    "unread_partition_ms",
    "shared_partition_ms",
    "durations_unknown",
)
"""Columns of `group_figures`, int64."""
_KEYS: Final = ("cluster", "group_id")
_TIMES: Final = ("unread_partition_ms", "shared_partition_ms")
_WITHOUT: Final = ("broken", "outcome", "drawn_from", "drawn_id", "drawn_date")
FIGURE_COLUMNS: Final = {
    "answers": (
        *(name for name in COLUMNS if name not in _WITHOUT),
        *("rebalance_id", "applies", "verdict", "dec_min_balanced", "at_optimum"),
        *_TIMES,
    ),
    "rebalances": (*_KEYS, "rebalance_id", "episode_id", "lasted_ms"),
    "episodes": (
        *(n for n in COLUMNS if n not in (*_WITHOUT, "generation")),
        *("episode_id", "last_generation", "verdict", "dec_min_balanced", "at_optimum"),
    ),
    "snapshots": (*_KEYS, "verdict", "dec_min_balanced", "state_of"),
}
"""Columns that `group_figures` reads, per table."""


def group_figures(
    actual: pa.Table, rebalances: pa.Table, episodes: pa.Table, snapshots: pa.Table
) -> pa.Table:
    """Return `FIGURES` per cluster and group, in their order.

    ``rebalances`` are generations and target assignments, ``invalid`` and
    ``unbalanced`` include snapshots of states that the records do not contain. A
    cooperative rebalance is balanced or not as a whole, as on the page. Time is in
    partition-milliseconds, of rebalances whose duration is known;
    ``durations_unknown`` are the others.

    Parameters
    ----------
    actual
        Rows of ``answers`` of the clients; of the tables, `FIGURE_COLUMNS` are read.
    """
    nothing = pa.repeat(pa.scalar(0, pa.int64()), len(actual))
    units = client_units(actual.append_column("broken", nothing), rebalances, episodes)
    are_invalid = pc.invert(pc.fill_null(pc.equal(actual["verdict"], "valid"), True))
    parts = [
        _part(
            rebalances,
            rebalances=ones(len(rebalances)),
            durations_unknown=pc.is_null(rebalances["lasted_ms"]),
        ),
        _part(actual, invalid=are_invalid, **{n: actual[n] for n in _TIMES}),
        _part(
            units,
            unbalanced=equals(units["outcome"], UNBALANCED),
            needless_moves=units["needless_moves"],
        ),
        _part_of_states(snapshots.filter(pc.is_null(snapshots["state_of"]))),
    ]
    found = summed(pa.concat_tables(parts), _KEYS)
    return found.sort_by([(name, "ascending") for name in _KEYS])


def _part_of_states(states: pa.Table) -> pa.Table:
    is_lopsided = is_true(pc.invert(states["dec_min_balanced"]))
    is_broken = equals(states["verdict"], INVALID)
    unbalanced = pc.and_(is_lopsided, pc.invert(is_broken))
    return _part(states, invalid=is_broken, unbalanced=unbalanced)


def _part(rows: pa.Table, **figures: Column) -> pa.Table:
    """Return keys and figures of some rows; figures that are not given are 0."""
    none = pa.repeat(pa.scalar(0, pa.int64()), len(rows))
    columns = {name: plain(rows[name]) for name in _KEYS}
    for name in FIGURES:
        figure = pc.cast(figures.get(name, none), pa.int64())
        columns[name] = pc.fill_null(figure, 0)
    return pa.table(columns)
