"""The facts of a page against the rows of the tables, counted by loops."""

from __future__ import annotations

import re
from collections import Counter
from datetime import date, timedelta
from pathlib import Path

from oracle.report.about import read_about
from oracle.report.audited import SOURCES_SHOWN, audited_of
from oracle.report.client_row import ClientRow
from oracle.report.endless import BUSY, HOURS, ROUNDS, endless_of
from oracle.report.facts import (
    ENOUGH_JUDGED,
    GROUPS_SHOWN,
    Facts,
    facts_of,
    units_of,
)
from oracle.report.first_answers import busiest_group, first_answers
from oracle.report.kip54 import GROUPS_COMPARED, kip54_of
from oracle.report.load import Tables, load
from oracle.report.states import StateCounts
from oracle.report.trend import DAYS_SHOWN
from oracle.summary import OUTCOMES
from tests.references.recount import WRONG, Recount, Row

TALLIES = {
    "assignors": "client_assignor",
    "protocols": "protocol",
    "partition_counts": "partition_counts",
    "owned_from": "owned_from",
    "subscriptions": "subscriptions",
    "lag_basis": "lag_basis",
}
"""Fields of the extent of an audit, and the columns that they count."""


def check_facts(folder: Path) -> Facts:
    """Check the facts of the page of a folder, and return them.

    Raises
    ------
    AssertionError
        If one is not that of the tables.
    """
    tables, recount = load(folder), Recount(folder)
    facts = facts_of(tables)
    _check_clients(facts, recount)
    _check_harm(facts, recount)
    _check_example(facts.example, recount)
    _check_states(facts, recount)
    _check_lag_and_days(facts, recount)
    _check_first_answers(tables, facts, recount)
    _check_endless(tables, recount)
    _check_kip54(tables, facts, recount)
    _check_extent(tables, recount)
    return facts


def _check_clients(facts: Facts, recount: Recount) -> None:
    counts = facts.all_clients
    assert {name: counts.of(name) for name in OUTCOMES} == {
        name: recount.outcomes[name] for name in OUTCOMES
    }
    assert (counts.wrong, counts.judged) == (recount.wrong, recount.judged)
    assert counts.needless_moves == recount.needless_moves
    assert facts.judged_groups == len(recount.judged_groups)
    assert (facts.generations, facts.proved) == (recount.generations, recount.proved)
    places = Counter(map(_place, recount.units))
    shown = {
        (row.cluster, row.group, row.assignor): row.counts.total for row in facts.groups
    }
    assert shown == places
    assert facts.clients == facts.groups[:GROUPS_SHOWN]
    in_table = sum(len(fold.rows) for fold in facts.folds)
    assert facts.others_count == len(places) - in_table
    assert len(facts.folds) <= GROUPS_SHOWN
    cooperative = [r for r in recount.tables["episodes"] if r["cooperative"]]
    assert len(facts.episodes) == len(set(map(_place, cooperative)))


def _check_harm(facts: Facts, recount: Recount) -> None:
    """Compare the harm of each group with the rows, and check the order."""
    for client in facts.groups:
        rows = [
            row
            for row in recount.tables["answers"]
            if row["assignor"] == "actual"
            and _place(row) == (client.cluster, client.group, client.assignor)
        ]
        for name in ("unread", "shared", "waiting", "imbalance"):
            known = [row[f"{name}_partition_ms"] for row in rows]
            known = [number for number in known if number is not None]
            expected = sum(known) if known else None
            assert getattr(client.harm, name) == expected, (client.group, name)
    order = [
        (
            client.harm.invalid or 0,
            client.harm.unknown,
            client.counts.invalid,
            client.harm.waiting or 0,
            client.counts.needless_moves,
            client.harm.imbalance or 0,
        )
        for client in facts.groups
    ]
    assert order == sorted(order, reverse=True)


def _check_example(example: ClientRow | None, recount: Recount) -> None:
    """Check that no sticky assignor of a group has worse results."""
    groups = recount.sticky_groups(least=ENOUGH_JUDGED)
    share = {
        key: sum(counts[name] for name in WRONG) / (counts.total() - counts["open"])
        for key, counts in groups.items()
    }
    worst = max(share.values(), default=0)
    if example is None:
        assert worst == 0
    else:
        key = example.group, example.assignor or ""
        assert {name: example.counts.of(name) for name in OUTCOMES} == {
            name: groups[key][name] for name in OUTCOMES
        }
        assert share[key] == worst > 0


def _check_states(facts: Facts, recount: Recount) -> None:
    rows = recount.tables["snapshots"]
    open_rows = [row for row in rows if row["state_of"] is None and row["undetermined"]]
    names = ("balanced", "unbalanced", "invalid", "undetermined", "recorded")
    assert facts.states.total == StateCounts(
        **{name: recount.states[name] for name in names},
        if_balanced=sum(row["balanced_if_equal"] is True for row in open_rows),
        if_unbalanced=sum(row["balanced_if_equal"] is False for row in open_rows),
    )
    reasons = Counter(
        re.sub(r"^line \d+: .*", "the text contradicts itself in a line", reason)
        for reason in (row["undetermined"] for row in open_rows)
    )
    for reason in facts.states.reasons:
        assert reasons.pop(reason.text) == reason.snapshots
    least = min((reason.snapshots for reason in facts.states.reasons), default=0)
    assert all(count <= least for count in reasons.values())
    groups = {(row["cluster"], row["group_id"]) for row in rows}
    assert facts.states.groups == len(groups)


def _check_lag_and_days(facts: Facts, recount: Recount) -> None:
    at_bound = recount.lag_at_bound()
    for row in facts.assignors:
        said = row.lag.at_bound, row.lag.known
        assert said == at_bound.get(row.name, (0, 0)), row.name
    days = sorted(recount.days)
    assert [day.date for day in facts.trend.days] == days[-DAYS_SHOWN:]
    assert facts.trend.left_out == max(0, len(days) - DAYS_SHOWN)
    known = [
        row
        for row in recount.tables["answers"]
        if row["assignor"] == "actual"
        and row["verdict"] == "valid"
        and row["date"] in days[-DAYS_SHOWN:]
        and None not in (row["peak_lag"], row["peak_lag_bound"])
    ]
    assert facts.trend.lag_known == len(known)


def _check_first_answers(tables: Tables, facts: Facts, recount: Recount) -> None:
    """Check the busiest group, and the needless moves of the day."""
    busiest = busiest_group(tables.rebalances)
    often = Counter(
        (row["cluster"], row["group_id"]) for row in recount.tables["rebalances"]
    )
    first = min(often, key=lambda group: (-often[group], group), default=None)
    assert busiest == first
    made_at = read_about(recount.folder).made_at
    day = first_answers(facts, units_of(tables), [], busiest, made_at).day
    days = set(sorted(recount.days)[-DAYS_SHOWN:])
    if day is None:
        assert not days
        return
    before = date.fromisoformat(made_at[:10]) - timedelta(days=1)
    assert str(day.date) == max(days & {str(before)} or days)
    moves: Counter[tuple[str, str]] = Counter()
    for row in recount.units:
        if row["date"] == str(day.date) and row["outcome"] == "needless":
            moved = row["moves"] - row["moves_least"]
            moves[row["cluster"], row["group_id"]] += moved
    assert day.counts.needless_moves == moves.total()
    if moves:
        most = min(moves, key=lambda group: (-moves[group], group))
        assert ((day.cluster, day.group), day.moves) == (most, moves[most])


def _check_endless(tables: Tables, recount: Recount) -> None:
    assert (BUSY, HOURS, ROUNDS) == (30, 3, 10)
    found = endless_of(tables.rebalances, tables.episodes)
    groups = {(row.cluster, row.group) for row in found}
    assert groups == recount.endless(BUSY, HOURS, ROUNDS)


def _check_kip54(tables: Tables, facts: Facts, recount: Recount) -> None:
    order = [row.name for row in facts.assignors]
    found = kip54_of(tables, units_of(tables), order)
    if found.rows:
        assert found.others == max(
            0, len(set(map(_place, recount.units))) - GROUPS_COMPARED
        )


def _check_extent(tables: Tables, recount: Recount) -> None:
    found = audited_of(tables)
    rows, snapshots = recount.tables["rebalances"], recount.tables["snapshots"]
    assert (found.rebalances, found.snapshots) == (len(rows), len(snapshots))
    assert found.groups == len({(row["cluster"], row["group_id"]) for row in rows})
    assert found.members_most == max((row["members"] for row in rows), default=0)
    assert found.partitions_most == max((row["partitions"] for row in rows), default=0)
    times = [row["at"] for row in rows if row["at"] is not None]
    assert (found.first, found.last) == (
        min(times, default=None),
        max(times, default=None),
    )
    for name, column in TALLIES.items():
        assert getattr(found, name) == _tally(rows, column), name
    assert found.snapshot_subscriptions == _tally(snapshots, "subscriptions")
    sources = {row["source"] for row in rows + snapshots} - {None}
    assert len(found.sources) + found.sources_left_out == len(sources)
    assert len(found.sources) <= SOURCES_SHOWN
    quarantined = recount.tables["quarantine"]
    reasons = {(row["kind"], row["record"], row["reason"]) for row in quarantined}
    assert len(found.quarantined) + found.quarantined_left_out == len(reasons)


def _place(row: Row) -> tuple[str, str, str | None]:
    return row["cluster"], row["group_id"], row["client_assignor"] or None


def _tally(rows: list[Row], column: str) -> dict[str, int]:
    return dict(Counter(row[column] or "unknown" for row in rows))
