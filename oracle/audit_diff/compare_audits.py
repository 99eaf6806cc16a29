"""Changes between two audits, or in a store since a night or a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

from oracle.audit_diff.chosen_periods import (
    GivenAudit,
    nights_of,
    notes_on,
    periods_of,
    periods_since,
)
from oracle.audit_diff.compared_rows import ComparedRows, compared_rows
from oracle.audit_diff.diff_records import AuditDiff, ComparedPeriod
from oracle.audit_diff.new_rebalances import (
    gone_groups,
    groups_before,
    invalid_between,
    last_assignors,
    new_findings,
)
from oracle.audit_diff.period_differences import (
    FACTOR,
    changed_groups,
    first_group,
    new_groups,
)
from oracle.audit_diff.period_figures import Period, PeriodFigures, period_figures
from oracle.audit_diff.period_times import time_of
from pipeline.nights import linked_tables
from pipeline.tables import read_manifest
from rebalance import SourceError


@dataclass(frozen=True, slots=True, kw_only=True)
class _ComparedSide:
    """The rows of an audit, and a period of it."""

    rows: ComparedRows
    period: Period
    version: str | None = None


def diff_of_audits(old: Path, new: Path) -> AuditDiff:
    """Compare two folders of audits; the new period begins where the old one ends.

    Raises
    ------
    SourceError
        If a folder holds no audit, or they cannot be compared (`periods_of`).
    """
    given = _given(old), _given(new)
    periods = periods_of(given[0][0], given[1][0])
    before, after = (
        _ComparedSide(
            rows=rows,
            period=period,
            version=audit.manifest["versions"].get("assignor-oracle"),
        )
        for (audit, rows), period in zip(given, periods, strict=True)
    )
    return _diff(before, after, [*notes_on(given[0][0], given[1][0], periods[1])])


def _given(folder: Path) -> tuple[GivenAudit, ComparedRows]:
    manifest, rows = read_manifest(folder), compared_rows(folder)
    given = GivenAudit(place=str(folder), manifest=manifest, begins=rows.begins)
    return given, rows


def diff_of_store(store: Path, since: datetime | None = None) -> AuditDiff:
    """Compare the last audit of a store with the one before, or times around a time.

    Raises
    ------
    SourceError
        If it is not a store, or has nothing to compare.
    """
    with linked_tables(store) as (folder, state):
        rows = compared_rows(folder)
        newest = [entry.newest_record for entry in state.audits]
        if since is None:
            periods = nights_of(newest, state.first_day, rows.begins)
        else:
            periods = periods_since(
                since, newest, state.first_day, rows.begins, str(store)
            )
        if periods is None:
            reason = "has no earlier audit with which the last one can be compared"
            raise SourceError(reason, source=str(store))
        return _of_one(rows, periods)


def diff_of_last_night(folder: Path, history: Mapping[str, Any]) -> AuditDiff | None:
    """Compare the last audit of a store with the one before, by its ``--out``.

    Parameters
    ----------
    folder
        Tables of all audits of the store.
    history
        ``history`` of ``audit.json``.

    Returns
    -------
    AuditDiff or None
        None if there is no earlier audit to compare it with.
    """
    newest = [entry["newest_record"] for entry in history["audits"]]
    first = history["first_day"]
    rows = compared_rows(folder)
    first_day = None if first is None else date.fromisoformat(first)
    periods = nights_of(newest, first_day, rows.begins)
    return None if periods is None else _of_one(rows, periods)


def _of_one(rows: ComparedRows, periods: tuple[Period, Period]) -> AuditDiff:
    old, new = periods
    return _diff(
        _ComparedSide(rows=rows, period=old), _ComparedSide(rows=rows, period=new), []
    )


def _diff(old: _ComparedSide, new: _ComparedSide, notes: Sequence[str]) -> AuditDiff:
    before = period_figures(old.rows, old.period)
    after = period_figures(new.rows, new.period)
    split = new.period.begin
    known = groups_before(old.rows, split)
    lasts = old.period.lasts, max(1, new.period.lasts)
    assignors = (
        last_assignors(old.rows, old.period),
        last_assignors(new.rows, new.period),
    )
    worse, better = changed_groups(before.groups, after.groups, lasts, assignors)
    return AuditDiff.known(
        old=_described(old, before),
        new=_described(new, after),
        factor=FACTOR,
        first=first_group(before.groups, after.groups),
        worse=worse,
        better=better,
        new_groups=new_groups(after.groups, known),
        gone=gone_groups(new.rows, new.period),
        findings=new_findings(old.rows, new.rows, new.period),
        invalid=invalid_between(new.rows, new.period),
        notes=[*notes, *_notes(before, after)],
    )


def _described(side: _ComparedSide, figures: PeriodFigures) -> ComparedPeriod:
    return ComparedPeriod.known(
        since=time_of(side.period.begin),
        until=time_of(side.period.end),
        lasts_ms=side.period.lasts,
        rebalances=figures.rebalances,
        groups=len(figures.groups),
        without_time=figures.without_time,
        durations_unknown=figures.durations_unknown,
        version=side.version,
    )


def _notes(before: PeriodFigures, after: PeriodFigures) -> Iterator[str]:
    """Yield limits that are due to times that are not known."""
    without = max(before.without_time, after.without_time)
    if without:
        yield f"rebalances without a time, which are not compared: {without:,}"
    unknown = before.durations_unknown + after.durations_unknown
    if unknown:
        yield (
            f"rebalances of unknown duration, whose harm is not counted: {unknown:,}"
        )
