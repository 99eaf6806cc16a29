"""Units of counting: a rebalance from one stable state to the next.

An eager rebalance is one generation. A cooperative one takes several, because a
partition is revoked in one generation and assigned in the next; it is judged as a
whole.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from oracle.summary.arrow_columns import Column, equals, is_true, known, plain, where
from oracle.summary.outcome_columns import (
    INVALID,
    NEEDLESS,
    UNBALANCED,
    needless_moves,
    outcome_of,
    transfers_needed,
)

COLUMNS: Final = (
    "cluster",
    "date",
    "group_id",
    "client_assignor",
    "cooperative",
    "generation",
    "members",
    "partitions",
    "broken",
    "moves",
    "moves_least",
    "needless_lag",
    "kip54_score",
    "kip54_score_least",
    "kip54_balanced",
    "moves_least_kip54",
    "at_kip54_optimum",
    "outcome",
    "drawn_from",
    "drawn_id",
    "drawn_date",
)
"""``drawn_from``, ``drawn_id``, ``drawn_date``: table, row, and day to be shown."""
_COMPUTED: Final = frozenset(COLUMNS[-4:]) | {"generation", "broken"}
_EPISODES: Final = [
    *(name for name in COLUMNS if name not in _COMPUTED),
    "episode_id",
    "last_generation",
    "verdict",
    "dec_min_balanced",
    "at_optimum",
]


def client_units(
    actual: pa.Table, rebalances: pa.Table, episodes: pa.Table
) -> pa.Table:
    """Return the clients' results, one row per rebalance: `COLUMNS`, and two more.

    Parameters
    ----------
    actual
        Rows of ``answers`` of the clients, with ``broken``, the number of violations.
    rebalances, episodes
        The tables without documents.

    Notes
    -----
    ``needless_moves`` are moves beyond the fewest, of balanced assignments, and
    ``needless_lag`` is at least their lag, in records.
    ``transfers`` is the least number of partitions to transfer for balanced loads, of
    unbalanced ones.
    """
    apart = is_true(actual["cooperative"])
    units = pa.concat_tables(
        [
            _eager(actual.filter(pc.invert(apart))),
            _cooperative(actual.filter(apart), rebalances, episodes),
        ],
        promote_options="permissive",
    )
    is_needless = equals(units["outcome"], NEEDLESS)
    lag = where(is_needless, units["needless_lag"])
    units = units.set_column(COLUMNS.index("needless_lag"), "needless_lag", lag)
    is_unbalanced = equals(units["outcome"], UNBALANCED)
    return units.append_column(
        "needless_moves", needless_moves(units, is_needless)
    ).append_column("transfers", transfers_needed(units, is_unbalanced))


def _eager(actual: pa.Table) -> pa.Table:
    rows = actual.filter(pc.fill_null(actual["applies"], True))
    columns = {
        "outcome": outcome_of(rows),
        "drawn_from": pa.repeat(pa.scalar("rebalances"), len(rows)),
        "drawn_id": rows["rebalance_id"],
        "drawn_date": rows["date"],
    }
    return _units(rows, columns)


def _cooperative(
    actual: pa.Table, rebalances: pa.Table, episodes: pa.Table
) -> pa.Table:
    """Judge episodes by their final state; an invalid round makes them invalid."""
    rows = episodes.select(_EPISODES).filter(is_true(episodes["cooperative"]))
    rounds = _broken_rounds(actual, rebalances)
    joined = rows.append_column("outcome_of_end", outcome_of(rows)).join(
        rounds, keys=["cluster", "episode_id"], join_type="left outer"
    )
    broken = known(joined["round_id"])
    taken = pc.if_else(broken, pa.scalar("rebalances"), pa.scalar("episodes"))
    columns = {
        "generation": pc.coalesce(
            joined["round_generation"], joined["last_generation"]
        ),
        "broken": pc.fill_null(joined["round_broken"], 0),
        "outcome": pc.if_else(broken, pa.scalar(INVALID), joined["outcome_of_end"]),
        "drawn_from": taken,
        "drawn_id": pc.coalesce(joined["round_id"], joined["episode_id"]),
        "drawn_date": pc.coalesce(joined["round_date"], joined["date"]),
    }
    return _units(joined, columns)


def _broken_rounds(actual: pa.Table, rebalances: pa.Table) -> pa.Table:
    """Return the first invalid round of each episode that has one."""
    invalid = pc.invert(pc.fill_null(pc.equal(actual["verdict"], "valid"), True))
    names = {"generation": "round_generation", "broken": "round_broken"}
    names |= {"date": "round_date", "rebalance_id": "round_id"}
    rounds = actual.filter(invalid).select(["cluster", *names])
    episodes = rebalances.select(["cluster", "rebalance_id", "episode_id"])
    found = rounds.join(episodes, keys=["cluster", "rebalance_id"], join_type="inner")
    found = found.rename_columns(
        [names.get(column_name, column_name) for column_name in found.column_names]
    )
    order = [(name, "ascending") for name in ("round_generation", "round_id")]
    first = found.sort_by(order).group_by(["cluster", "episode_id"], use_threads=False)
    grouped = first.aggregate([(name, "first") for name in names.values()])
    return grouped.rename_columns(
        [name.removesuffix("_first") for name in grouped.column_names]
    )


def _units(rows: pa.Table, columns: dict[str, Column]) -> pa.Table:
    return pa.table(
        {
            name: plain(columns[name] if name in columns else rows[name])
            for name in COLUMNS
        }
    )
