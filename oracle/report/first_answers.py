"""Answers for the top of the page: help for the first group, causes, and the last day.

The day is the one before the audit if it has rebalances, as in an audit of each night;
otherwise the last one that has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

import pyarrow as pa

from oracle.report.advice import AdviceKind
from oracle.report.causes_listed import ListedCauses
from oracle.report.client_row import ClientRow
from oracle.report.facts import Facts
from oracle.report.finding import harm_words
from oracle.report.group_index import Group
from oracle.report.outcomes import OutcomeCounts
from oracle.summary import equals, ones, summed

_GROUP: Final = ("cluster", "group_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class DayAnswer:
    """Rebalances of one day (UTC), and the group with most needless moves on it."""

    date: date
    counts: OutcomeCounts
    cluster: str = ""
    group: str = ""
    moves: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstAnswers:
    """Answers to the first questions; None where there is nothing to answer.

    Attributes
    ----------
    advised : ClientRow
        The first group, if it has harm, in the row that has its advice.
    causes : ListedCauses
        Of that group.
    busiest : ListedCauses
        Of the group with most rebalances, if it is another one.
    """

    advised: ClientRow | None
    causes: ListedCauses | None
    busiest: ListedCauses | None
    day: DayAnswer | None


def busiest_group(rebalances: pa.Table) -> Group | None:
    """Return the group with most rebalances, of equal ones the first by name."""
    columns = {name: rebalances[name] for name in _GROUP}
    columns["rebalances"] = ones(len(rebalances))
    rows = summed(pa.table(columns), _GROUP).to_pylist()
    if not rows:
        return None
    most = min(rows, key=lambda row: (-row["rebalances"], *map(row.get, _GROUP)))
    return most["cluster"], most["group_id"]


def first_answers(
    facts: Facts,
    units: pa.Table,
    causes: Sequence[ListedCauses],
    busiest: Group | None,
    made_at: str,
) -> FirstAnswers:
    """Return the answers.

    Parameters
    ----------
    units
        As of `oracle.report.facts.units_of`.
    causes
        Of the first group and the busiest one, and of others.
    busiest
        As of `busiest_group`.
    made_at
        Time of the audit, as of `oracle.report.about.About`.
    """
    listed = {(row.cluster, row.group): row for row in causes}
    advised = advised_row(facts)
    of_first = (advised.cluster, advised.group) if advised else None
    return FirstAnswers(
        advised=advised,
        causes=listed.get(of_first) if of_first else None,
        busiest=listed.get(busiest) if busiest and busiest != of_first else None,
        day=_day(facts, units, made_at),
    )


def advised_row(facts: Facts) -> ClientRow | None:
    """Return the row with the advice for the first group, None if it has no harm."""
    if not facts.groups or not harm_words(facts.groups[0]):
        return None
    first = facts.groups[0]
    of_group = [
        row
        for row in facts.groups
        if (row.cluster, row.group) == (first.cluster, first.group)
    ]
    return next(filter(_is_present, of_group), first)


def _is_present(row: ClientRow) -> bool:
    return all(advice.kind is not AdviceKind.FORMER for advice in row.advised)


def _day(facts: Facts, units: pa.Table, made_at: str) -> DayAnswer | None:
    days = {date.fromisoformat(day.date): day.counts for day in facts.trend.days}
    if not days:
        return None
    before = datetime.fromisoformat(made_at).date() - timedelta(days=1)
    chosen = before if before in days else max(days)
    rows = units.filter(equals(units["date"], chosen.isoformat()))
    moves = {name: rows[name] for name in (*_GROUP, "needless_moves")}
    most = min(
        summed(pa.table(moves), _GROUP).to_pylist(),
        key=lambda row: (-row["needless_moves"], *(row[name] for name in _GROUP)),
    )
    return DayAnswer(
        date=chosen,
        counts=days[chosen],
        cluster=most["cluster"],
        group=most["group_id"],
        moves=most["needless_moves"],
    )
