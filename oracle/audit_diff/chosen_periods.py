"""The two periods that a comparison is about, and the audits that cannot be compared.

Of two audits, the new period begins where the old one ends, even if the new audit has
earlier times, too: new harm is not diluted by harm that is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any, Final

from oracle.audit_diff.compared_rows import UNKNOWN_MS, Int64
from oracle.audit_diff.period_figures import Period
from oracle.audit_diff.period_times import ms_of, time_of
from rebalance import SourceError

_EQUAL: Final = ("cluster", "claim_rule", "max_partitions", "groups")
"""Parameters without which figures, or the groups, cannot be compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenAudit:
    """An audit as it is given: its place, its manifest, and times of its rebalances."""

    place: str
    manifest: Mapping[str, Any]
    begins: Int64


def periods_of(old: GivenAudit, new: GivenAudit) -> tuple[Period, Period]:
    """Return the periods of two audits; the new one is empty if both end together.

    Raises
    ------
    SourceError
        If they are audits of other clusters, groups, or rules, or of other kinds of
        sources; if one has no times; if the old one ends later.
    """
    _check_parameters(old, new)
    before, after = _window(old), _window(new)
    if after.end < before.end:
        reason = f"ends at {time_of(after.end)}, before {old.place}"
        raise SourceError(
            f"{reason} ({time_of(before.end)}): give the older audit first",
            source=new.place,
        )
    return before, Period(begin=max(after.begin, before.end), end=after.end)


def nights_of(
    newest: Sequence[str | None], first_day: date | None, begins: Int64
) -> tuple[Period, Period] | None:
    """Return the periods of the last two audits of a store.

    Parameters
    ----------
    newest
        Latest time of a record per audit, in their order; None: unknown.
    first_day
        First day that the store has kept; None: all.
    begins
        Times of its rebalances.

    Returns
    -------
    tuple of Period, or None
        None if there is only one audit with records, or the store has dropped the days
        before the last one.
    """
    ends = sorted({ms_of(at) + 1 for at in newest if at is not None})
    if len(ends) < 2:
        return None
    first = _first(begins, first_day)
    begin = ends[-3] if len(ends) > 2 else first
    if begin is None or first is None:
        return None
    old = Period(begin=max(begin, first), end=ends[-2])
    return (old, Period(begin=ends[-2], end=ends[-1])) if old.lasts else None


def periods_since(
    since: datetime,
    newest: Sequence[str | None],
    first_day: date | None,
    begins: Int64,
    store: str,
) -> tuple[Period, Period]:
    """Return the times before and after a time; the other parameters are as above.

    Raises
    ------
    SourceError
        If nothing is known of one of them.
    """
    ends = [ms_of(at) + 1 for at in newest if at is not None]
    split, first = ms_of(since), _first(begins, first_day)
    if not ends or first is None:
        raise SourceError("has no rebalance with a time", source=store)
    if not first < split < max(ends):
        reason = f"has rebalances from {time_of(first)} to {time_of(max(ends))}"
        raise SourceError(
            f"{reason}: {time_of(split)} does not divide them", source=store
        )
    return Period(begin=first, end=split), Period(begin=split, end=max(ends))


def notes_on(old: GivenAudit, new: GivenAudit, period: Period) -> Iterator[str]:
    """Yield limits of the comparison of two audits; ``period`` is the new one."""
    for word, audit, begin in (("old", old, None), ("new", new, period.begin)):
        since = audit.manifest["parameters"].get("since")
        if since is not None and (begin is None or ms_of(since) >= begin):
            yield (
                f"the {word} audit has no rebalances before its --since: the harm of "
                "states that began earlier, and groups without a rebalance since then, "
                "are not in it"
            )
    versions = [
        audit.manifest["versions"].get("assignor-oracle") for audit in (old, new)
    ]
    if versions[0] != versions[1]:
        yield f"the audits are of different versions: {versions[0]}, {versions[1]}"
    given = [audit.manifest["parameters"].get("topics") for audit in (old, new)]
    if (given[0] is None) != (given[1] is None):
        yield "partition counts are given in one of the audits only"


def _check_parameters(old: GivenAudit, new: GivenAudit) -> None:
    before, after = old.manifest["parameters"], new.manifest["parameters"]
    for name in _EQUAL:
        values = before.get(name) or None, after.get(name) or None
        if values[0] != values[1]:
            reason = f"is an audit with {name} {_shown(values[1])}"
            raise SourceError(
                f"{reason}, and {old.place} with {_shown(values[0])}: they cannot be "
                "compared",
                source=new.place,
            )
    kinds = [
        sorted({source["kind"] for source in audit.manifest.get("sources", ())})
        for audit in (old, new)
    ]
    if kinds[0] != kinds[1]:
        reason = f"is an audit of {_shown(kinds[1])}"
        raise SourceError(
            f"{reason}, and {old.place} of {_shown(kinds[0])}: they cannot be compared",
            source=new.place,
        )


def _window(audit: GivenAudit) -> Period:
    """Return the times of an audit: those asked for, as far as there are records."""
    newest = audit.manifest["newest_record"]
    if newest is None:
        raise SourceError(
            "no record has a time, so new rebalances cannot be told from others",
            source=audit.place,
        )
    parameters = audit.manifest["parameters"]
    since, until = parameters.get("since"), parameters.get("until")
    end = ms_of(newest) + 1
    end = end if until is None else min(end, ms_of(until))
    begin = _first(audit.begins, None) if since is None else ms_of(since)
    if begin is None or begin >= end:
        raise SourceError("has no rebalance with a time", source=audit.place)
    return Period(begin=begin, end=end)


def _first(begins: Int64, first_day: date | None) -> int | None:
    """Return the first time of a rebalance that is kept; None if there is none."""
    known = begins[begins != UNKNOWN_MS]
    if not len(known):
        return None
    kept = UNKNOWN_MS
    if first_day is not None:
        kept = ms_of(datetime.combine(first_day, time(), UTC))
    return max(int(known.min()), kept)


def _shown(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "no source"
    return "unset" if value is None else str(value)
