"""Every number on the page, computed from the tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from oracle.report.gaps import percent_above
from oracle.report.load import Tables
from oracle.report.outcomes import Counts, counts_of
from oracle.report.states import States, states_of
from oracle.report.units import assignor_units, client_units
from pipeline.evaluation import ACTUAL, KIP54, OPTIMUM

_KEEPING = ("sticky", "uniform")
"""Names of sticky assignors, which keep partitions with their owners."""

ENOUGH_JUDGED = 5
"""Judged rebalances of a group whose share of wrong answers is an example."""

GROUPS_SHOWN = 40
"""Groups in a table, worst first; the others are one row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lag:
    """Peak lag compared with its lower bound.

    ``median_above`` is in percent of the bound, rounded up; None if unknown.
    """

    known: int
    at_bound: int
    median_above: int | None


_NO_LAG = Lag(known=0, at_bound=0, median_above=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientRow:
    """Results of one group's clients with one assignor."""

    cluster: str
    group: str
    assignor: str | None
    cooperative: bool
    counts: Counts
    lag: Lag


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignorRow:
    """Results of one assignor on all generations to which it applies."""

    name: str
    applies: int
    refuses: int
    counts: Counts
    balanced: int
    lag: Lag


@dataclass(frozen=True, slots=True, kw_only=True)
class Episodes:
    """Cooperative rebalances of one group, between stable states."""

    cluster: str
    group: str
    assignor: str | None
    finished: int
    open: int
    rounds: int
    rounds_most: int
    moves: int
    moves_least: int
    at_optimum: int
    unowned_partition_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All numbers of the page; rows in the order of the page.

    Of ``generations``, the judge found balance and stickiness ``proved``.
    ``judged_groups`` are groups with a judged rebalance. ``example`` is the group with
    the worst results of a sticky assignor.
    """

    clients: tuple[ClientRow, ...]
    others: Counts
    others_count: int
    all_clients: Counts
    assignors: tuple[AssignorRow, ...]
    episodes: tuple[Episodes, ...]
    generations: int
    proved: int
    judged_groups: int
    example: ClientRow | None
    states: States


def facts_of(tables: Tables) -> Facts:
    """Compute everything that the page reports."""
    units = client_units(tables)
    rows = _client_rows(units, tables.answers)
    shown, rest = rows[:GROUPS_SHOWN], rows[GROUPS_SHOWN:]
    best = tables.answers[tables.answers["assignor"] == OPTIMUM]
    proved = (best["status"] == "optimal") & best["proved_dec_min"]
    return Facts(
        clients=tuple(shown),
        others=_sum([row.counts for row in rest]),
        others_count=len(rest),
        all_clients=counts_of(units),
        assignors=tuple(_assignor_rows(tables.answers)),
        episodes=tuple(_episode_rows(tables.episodes)),
        generations=len(tables.rebalances),
        proved=int((proved & best["proved_stickiness"]).fillna(False).sum()),
        judged_groups=len({(r.cluster, r.group) for r in rows if r.counts.judged}),
        example=_example(rows),
        states=states_of(tables),
    )


def _client_rows(units: pd.DataFrame, answers: pd.DataFrame) -> list[ClientRow]:
    actual = answers[answers["assignor"] == ACTUAL]
    lag = {key: _lag(rows) for key, rows in by_group(actual)}
    rows = [
        ClientRow(
            cluster=cluster,
            group=group,
            assignor=assignor or None,
            cooperative=bool(of_group["cooperative"].fillna(False).any()),
            counts=counts_of(of_group),
            lag=lag.get(
                (cluster, group, assignor), Lag(known=0, at_bound=0, median_above=None)
            ),
        )
        for (cluster, group, assignor), of_group in by_group(units)
    ]
    return sorted(rows, key=_most_to_gain)


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


def _most_to_gain(row: ClientRow) -> tuple[int, int, str, str, str]:
    counts = row.counts
    names = (row.cluster, row.group, row.assignor or "")
    return -counts.wrong, -counts.judged, *names


def _assignor_rows(answers: pd.DataFrame) -> list[AssignorRow]:
    units = assignor_units(answers)
    asked = answers[answers["assignor"] != ACTUAL]["assignor"].value_counts()
    rows = []
    for name, of_one in units.groupby("assignor"):
        applies = len(of_one)
        refuses = int(asked.get(name, applies)) - applies
        row = AssignorRow(
            name=str(name),
            applies=applies,
            refuses=refuses,
            counts=counts_of(of_one),
            balanced=int(of_one["dec_min_balanced"].fillna(False).sum()),
            lag=_lag(of_one),
        )
        rows.append(row)
    order = {OPTIMUM: 0, KIP54: 1, ACTUAL: 2}
    return sorted(rows, key=lambda row: (order.get(row.name, 3), row.name))


def _episode_rows(episodes: pd.DataFrame) -> list[Episodes]:
    cooperative = episodes[episodes["cooperative"].fillna(False)]
    return [_episode_row(key, rows) for key, rows in by_group(cooperative)]


def _episode_row(key: tuple[str, str, str], rows: pd.DataFrame) -> Episodes:
    cluster, group, assignor = key
    done = rows[rows["ended"] == "rest"]
    proved = done[done["moves_least"].notna()]
    return Episodes(
        cluster=cluster,
        group=group,
        assignor=assignor or None,
        finished=len(done),
        open=len(rows) - len(done),
        rounds=int(done["rounds"].sum()),
        rounds_most=int(rows["rounds"].max()),
        moves=int(proved["moves"].sum()),
        moves_least=int(proved["moves_least"].sum()),
        at_optimum=int(done["at_optimum"].fillna(False).sum()),
        unowned_partition_seconds=float(rows["unowned_partition_ms"].sum()) / 1000,
    )


def by_group(rows: pd.DataFrame) -> Iterator[tuple[tuple[str, str, str], pd.DataFrame]]:
    """Group rows by cluster, group, and client assignor (``""`` unknown), in order."""
    keys = [rows["cluster"], rows["group_id"], rows["client_assignor"].fillna("")]
    for (cluster, group, assignor), found in rows.groupby(keys):
        yield (str(cluster), str(group), str(assignor)), found


def _lag(rows: pd.DataFrame) -> Lag:
    valid = rows[(rows["verdict"] == "valid").fillna(False)]
    known = valid[valid["peak_lag"].notna() & valid["peak_lag_bound"].notna()]
    at_bound = (known["peak_lag"] == known["peak_lag_bound"]).sum()
    above = percent_above(known).sort_values()
    middle = int(above.iloc[len(above) // 2]) if len(above) else None
    return Lag(known=len(known), at_bound=int(at_bound), median_above=middle)


def _sum(counts: Sequence[Counts]) -> Counts:
    names = ("optimum", "needless", "unbalanced", "invalid", "open", "needless_moves")
    return Counts(**{name: sum(getattr(one, name) for one in counts) for name in names})
