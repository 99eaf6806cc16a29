"""Every number on the page, computed from the tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from oracle.report.advice import AdviceKind, Advisor
from oracle.report.client_row import NO_LAG, ClientRow, Lag
from oracle.report.folding import Fold, folded
from oracle.report.group_episodes import GroupEpisodes, episodes_of
from oracle.report.harm import NO_HARM, Harm, harm_of, harm_sum, with_harm
from oracle.report.load import Tables, load
from oracle.report.outcomes import OutcomeCounts, added, counts_of
from oracle.report.states import States, states_of
from oracle.report.trend import Trend, trend_of
from oracle.report.unit_times import with_times
from oracle.summary import (
    OUTCOMES,
    AssignorCounts,
    client_counts,
    client_lag,
    client_units,
    medians,
)
from pipeline.evaluation import ACTUAL, KIP54, OPTIMUM

_KEEPING = ("sticky", "uniform")
"""Names of sticky assignors, which keep partitions with their owners."""

ENOUGH_JUDGED = 5
"""Judged rebalances of a group whose share of wrong answers is an example."""

GROUPS_SHOWN = 20
"""Groups in a table, most harm first; the others are one row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignorRow:
    """Results of one assignor on all generations to which it applies."""

    name: str
    applies: int
    refuses: int
    counts: OutcomeCounts
    balanced: int
    lag: Lag


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All numbers of the page; rows in the order of the page.

    ``groups`` are all groups by harm, and ``clients`` the first of them.
    ``folds`` are the first rows of the page's table, in which equal groups are one row
    if there are many groups, and ``others`` are the groups that they do not have;
    ``patterns`` are all rows of several groups. Of
    ``generations``, the judge found balance and stickiness ``proved``.
    ``judged_groups`` are groups with a judged rebalance. ``example`` is the group with
    the worst results of a sticky assignor. ``lag_missing`` counts rebalances and
    snapshots of which the files of ``--lag`` lack partitions.
    """

    groups: tuple[ClientRow, ...]
    clients: tuple[ClientRow, ...]
    folds: tuple[Fold, ...]
    patterns: tuple[Fold, ...]
    others: OutcomeCounts
    others_harm: Harm
    others_count: int
    all_clients: OutcomeCounts
    all_harm: Harm
    assignors: tuple[AssignorRow, ...]
    episodes: tuple[GroupEpisodes, ...]
    generations: int
    proved: int
    judged_groups: int
    example: ClientRow | None
    states: States
    trend: Trend
    lag_missing: int


def facts_of(tables: Tables, units: pa.Table | None = None) -> Facts:
    """Compute everything that the page reports; ``units`` as of `units_of`."""
    units = units_of(tables) if units is None else units
    rows = _client_rows(units, tables)
    folds = folds_of(rows)
    shown = {row for fold in folds[:GROUPS_SHOWN] for row in fold.rows}
    rest = [row for row in rows if row not in shown]
    return Facts(
        groups=tuple(rows),
        clients=tuple(rows[:GROUPS_SHOWN]),
        folds=tuple(folds[:GROUPS_SHOWN]),
        patterns=tuple(fold for fold in folds if fold.pattern),
        others=added(OutcomeCounts, [row.counts for row in rest]),
        others_harm=harm_sum([row.harm for row in rest]),
        others_count=len(rest),
        all_clients=added(OutcomeCounts, [row.counts for row in rows]),
        all_harm=harm_sum([row.harm for row in rows]),
        assignors=tuple(_assignor_rows(tables.answers)),
        episodes=tuple(episodes_of(tables.episodes)),
        generations=len(tables.rebalances),
        proved=tables.answers.proved,
        judged_groups=len({(r.cluster, r.group) for r in rows if r.counts.judged}),
        example=_example(rows),
        states=states_of(tables),
        trend=trend_of(units, tables.actual),
        lag_missing=sum(
            len(table) - table["lag_missing"].null_count
            for table in (tables.rebalances, tables.snapshots)
        ),
    )


def advice_of_group(folder: Path, group: str) -> str | None:
    """Return the line that the page of an audit has about a group.

    It is that of the assignor that the group used last, and None if there is no
    recorded assignment. Of a group in several clusters, each has a line.

    Raises
    ------
    SourceError
        If the folder holds no audit, or its tables cannot be read.
    """
    rows = [
        row
        for row in facts_of(load(folder, group)).groups
        if all(advice.kind is not AdviceKind.FORMER for advice in row.advised)
    ]
    if len({row.cluster for row in rows}) < 2:
        return rows[0].advice if rows else None
    ordered = sorted(rows, key=lambda row: row.cluster)
    return "; ".join(f"{row.cluster}: {row.advice}" for row in ordered)


def units_of(tables: Tables) -> pa.Table:
    """Return the rebalances of clients as `client_units`, with their times."""
    units = client_units(tables.actual, tables.rebalances, tables.episodes)
    timed = with_times(units, tables.rebalances, tables.episodes)
    return with_harm(timed, tables)


def _client_rows(units: pa.Table, tables: Tables) -> list[ClientRow]:
    keys = ("cluster", "group_id", "client_assignor")
    advisor = Advisor(tables, units)
    lag = {
        tuple(row[name] for name in keys): _lag(row)
        for row in medians(client_lag(tables.actual), keys).to_pylist()
    }
    harm = harm_of(tables)
    rows = [
        ClientRow(
            cluster=row["cluster"],
            group=row["group_id"],
            assignor=row["client_assignor"] or None,
            cooperative=row["cooperative"] > 0,
            counts=counts_of(OutcomeCounts, row),
            lag=lag.get(tuple(row[name] for name in keys), NO_LAG),
            harm=harm.get(tuple(row[name] for name in keys), NO_HARM),
            advised=advisor.advice(
                (row["cluster"], row["group_id"]),
                row["client_assignor"] or None,
                counts_of(OutcomeCounts, row),
                cooperative=row["cooperative"] > 0,
            ),
        )
        for row in client_counts(units).to_pylist()
    ]
    return sorted(rows, key=_most_harm)


def folds_of(rows: Sequence[ClientRow]) -> list[Fold]:
    """Return the rows of the page's table; a few groups each have their own."""
    if len(rows) > GROUPS_SHOWN:
        return folded(rows)
    return [Fold(pattern="", rows=(row,)) for row in rows]


def _example(rows: Sequence[ClientRow]) -> ClientRow | None:
    """Return the row of a sticky assignor with the largest share of wrong answers.

    Groups with few judged rebalances are left out: their shares say little.
    """
    keeping = [
        row
        for row in rows
        if row.counts.wrong
        and row.counts.judged >= ENOUGH_JUDGED
        and any(word in (row.assignor or "") for word in _KEEPING)
    ]
    share = {row: row.counts.wrong / row.counts.judged for row in keeping}
    return max(keeping, key=lambda row: (share[row], row.counts.wrong), default=None)


def _most_harm(row: ClientRow) -> tuple[int | str, ...]:
    """Rank invalid assignments, then time without an owner, moves, and imbalance.

    Invalid ones of unknown duration are after the known ones.
    """
    harm, counts = row.harm, row.counts
    invalid = (-(harm.invalid or 0), -harm.unknown, -counts.invalid)
    others = (-(harm.waiting or 0), -counts.needless_moves, -(harm.imbalance or 0))
    names = (row.cluster, row.group, row.assignor or "")
    return *invalid, *others, -counts.unbalanced, *names


def _assignor_rows(answers: AssignorCounts) -> list[AssignorRow]:
    """Return the optima, then clients and assignors, best first."""
    rebalances = {
        row["assignor"]: row["rebalances"] for row in answers.rebalances.to_pylist()
    }
    lag = {
        row["assignor"]: _lag(row)
        for row in medians(answers.lag, ["assignor"]).to_pylist()
    }
    sums: dict[str, Counter[str]] = {}
    for row in answers.answers.to_pylist():
        of_one = sums.setdefault(row["assignor"], Counter())
        of_one[OUTCOMES[row["outcome"]]] += row["rebalances"]
        of_one["balanced"] += row["rebalances"] * row["balanced"]
        of_one["needless_moves"] += row["needless_moves"]
    rows = [
        AssignorRow(
            name=name,
            applies=sum(of_one[outcome] for outcome in OUTCOMES),
            refuses=_refuses(name, rebalances[name], of_one),
            counts=counts_of(OutcomeCounts, of_one),
            balanced=of_one["balanced"],
            lag=lag.get(name, NO_LAG),
        )
        for name, of_one in sums.items()
    ]
    return sorted(rows, key=_best_first)


def _refuses(name: str, rebalances: int, counts: Mapping[str, int]) -> int:
    """Return the generations to which an assignor does not apply; clients have none."""
    applies = sum(counts[outcome] for outcome in OUTCOMES)
    return 0 if name == ACTUAL else rebalances - applies


def _best_first(row: AssignorRow) -> tuple[int, float, int, str]:
    counts = row.counts
    order = {OPTIMUM: 0, KIP54: 1}
    share = counts.optimum / counts.judged if counts.judged else -1
    return order.get(row.name, len(order)), -share, counts.needless_moves, row.name


def _lag(row: Mapping[str, int]) -> Lag:
    return Lag(known=row["known"], at_bound=row["at_bound"], median_above=row["median"])
