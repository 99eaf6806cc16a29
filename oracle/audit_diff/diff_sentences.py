"""Sentences of a comparison, the same on the terminal and on the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final

from oracle.audit_diff.diff_records import (
    AuditDiff,
    ComparedPeriod,
    Figure,
    GoneGroup,
    GroupDifference,
    NewFinding,
    NewGroup,
    NewInvalid,
)
from oracle.report.harm import seconds_text
from oracle.report.news import News, NewsLine, NewsPart
from oracle.report.unit_times import named
from oracle.strict_record import StrictRecord
from oracle.wording import counted

LINES_SHOWN: Final = 10
"""Lines of a part; the document has all."""
NOTHING: Final = "Nothing is new"
_DAY_MS: Final = 86_400_000
_SECONDS: Final = ("partition-second", "partition-seconds")
_FIGURES: Final[dict[Figure, tuple[str, str, str]]] = {
    "invalid_partition_ms": ("partitions unread, or read by several:", *_SECONDS),
    "invalid_unknown": (
        "",
        "invalid assignment of unknown duration",
        "invalid assignments of unknown duration",
    ),
    "invalid": ("", "invalid assignment", "invalid assignments"),
    "waiting_partition_ms": (
        "partitions without an owner, beyond the optimum:",
        *_SECONDS,
    ),
    "needless_moves": ("", "needless move", "needless moves"),
    "imbalance_partition_ms": ("partitions with the wrong member:", *_SECONDS),
}
"""Words before the numbers of a figure, and its unit, of one and of several."""
_UNITS: Final = (("day", _DAY_MS), ("hour", 3_600_000), ("minute", 60_000))


def news_of(diff: AuditDiff) -> News:
    """Return the lines of all parts that have something to say."""
    return News(
        compared=periods_text(diff),
        parts=tuple(_parts(diff)),
        notes=tuple(diff.notes),
    )


def _parts(diff: AuditDiff) -> Iterator[NewsPart]:
    yield from _first(diff)
    for rows, title, line in (
        (diff.worse, _title("worse, per day", "group is", "groups are"), _differs),
        (diff.new_groups, _title("with harm", "new group", "new groups"), _is_new),
        (diff.findings, _title("", "new finding"), _agrees),
        (diff.invalid, _title("", "new invalid assignment"), _was_invalid),
        (diff.better, _title("better, per day", "group is", "groups are"), _differs),
        (diff.gone, _title("gone", "group is", "groups are"), _is_gone),
    ):
        yield from _part(rows, title, line, diff)


def periods_text(diff: AuditDiff) -> str:
    """State the two periods, and how long they are."""
    if not diff.new.lasts_ms:
        return f"Both audits end at {_at(diff.new.until)}"
    return f"{_period(diff.new)}, compared with {_period(diff.old)}"


def worse_lines(diff: AuditDiff) -> list[NewsLine]:
    """Return the lines of groups that are worse, then of new groups with harm."""
    worse = [_differs(diff, row) for row in diff.worse]
    return worse + [_is_new(diff, row) for row in diff.new_groups]


def lasting_text(milliseconds: int) -> str:
    """Format a duration in its largest unit, with one digit after the point."""
    for unit, length in _UNITS:
        if milliseconds >= length:
            tenths = (10 * milliseconds + length // 2) // length
            words = f"{tenths // 10:,}.{tenths % 10}".removesuffix(".0")
            return f"{words} {unit}{'' if words == '1' else 's'}"
    return f"{seconds_text(milliseconds)} seconds"


def _title(end: str, one: str, many: str | None = None) -> Callable[[int], str]:
    return lambda number: f"{counted(number, one, many)} {end}".strip()


def _part(
    rows: Sequence[StrictRecord],
    title: Callable[[int], str],
    line: Callable[..., NewsLine],
    diff: AuditDiff,
) -> Iterable[NewsPart]:
    if rows:
        yield NewsPart(
            title=title(len(rows)),
            lines=tuple(line(diff, row) for row in rows[:LINES_SHOWN]),
            more=max(0, len(rows) - LINES_SHOWN),
        )


def _first(diff: AuditDiff) -> Iterator[NewsPart]:
    """State the first group of the new period, and the one before, if there was one."""
    if (first := diff.first) is None:
        return
    lines = [NewsLine(cluster=first.cluster, group=first.group, words="now")]
    if first.old_group is not None:
        before = NewsLine(
            cluster=first.old_cluster or "", group=first.old_group, words="before"
        )
        lines.append(before)
    yield NewsPart(title="Another group has the most harm", lines=tuple(lines))


def _differs(diff: AuditDiff, row: GroupDifference) -> NewsLine:
    before, after = getattr(row.old, row.by), getattr(row.new, row.by)
    rates = [
        _per_day(row.by, before, diff.old.lasts_ms),
        _per_day(row.by, after, diff.new.lasts_ms),
    ]
    totals = [_number(row.by, before), _number(row.by, after)]
    words = f"{_worded(row.by, ' → '.join(rates))} per day"
    assignors = (row.old_assignor or "", row.new_assignor or "")
    return NewsLine(
        cluster=row.cluster,
        group=row.group,
        words=f"{words} (in all {totals[0]} and {totals[1]})",
        assignors=assignors if all(assignors) else (),
    )


def _is_new(_: AuditDiff, row: NewGroup) -> NewsLine:
    found = _number(row.by, getattr(row.new, row.by))
    return NewsLine(cluster=row.cluster, group=row.group, words=_worded(row.by, found))


def _agrees(_: AuditDiff, row: NewFinding) -> NewsLine:
    words = f"an invalid assignment may be explained by {row.finding}"
    return NewsLine(
        cluster=row.cluster,
        group=row.group,
        words=f"{words} ({row.title}): {row.page}",
    )


def _was_invalid(_: AuditDiff, row: NewInvalid) -> NewsLine:
    harm = (row.unread_partition_ms, row.shared_partition_ms)
    known = [number for number in harm if number is not None]
    lasting = "how long it lasted is not known"
    if known and not sum(known):
        lasting = "partitions neither unread nor read by several"
    elif known:
        number = _number("invalid_partition_ms", sum(known))
        lasting = _worded("invalid_partition_ms", number)
    at = named(datetime.fromisoformat(row.at), row.generation)
    return NewsLine(cluster=row.cluster, group=row.group, words=f"{at}: {lasting}")


def _is_gone(_: AuditDiff, row: GoneGroup) -> NewsLine:
    words = f"without a member, or deleted, since {_at(row.at)}"
    return NewsLine(cluster=row.cluster, group=row.group, words=words)


def _worded(figure: Figure, numbers: str) -> str:
    before, one, many = _FIGURES[figure]
    return f"{before} {numbers} {one if numbers == '1' else many}".strip()


def _number(figure: Figure, number: int) -> str:
    return seconds_text(number) if figure.endswith("_ms") else f"{number:,}"


def _per_day(figure: Figure, number: int, lasts: int) -> str:
    """Format a number per day, below 10 with one digit after the point."""
    if figure.endswith("_ms"):
        return seconds_text((number * _DAY_MS + lasts // 2) // lasts)
    thousandths = (1000 * number * _DAY_MS + lasts // 2) // lasts
    return seconds_text(thousandths)


def _period(period: ComparedPeriod) -> str:
    times = f"{_at(period.since)} to {_at(period.until)}"
    return f"{times} ({lasting_text(period.lasts_ms)})"


def _at(text: str) -> str:
    return f"{datetime.fromisoformat(text):%Y-%m-%d %H:%M:%S} UTC"
