"""Charts of the facts of the page, for wide and narrow screens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from oracle.names import abridged, visible
from oracle.report.charts import columns, gap_cells, outcome_bars
from oracle.report.client_row import ClientRow
from oracle.report.facts import Facts
from oracle.report.gaps import BESTS, Gaps
from oracle.report.outcomes import OutcomeCounts
from oracle.report.page_templates import assignor_label
from oracle.report.trend import Trend

WIDE: Final = 1080
NARROW: Final = 340
CHART_ROWS: Final = 20


def chart_parts(facts: Facts) -> dict[str, Any]:
    """Draw the charts of the facts."""
    return {
        "spread_charts": _spread_charts(facts),
        "spread_words": _spread_words(facts),
        "trend_charts": _trend_charts(facts.trend),
        "client_charts": _client_charts(facts),
        "assignor_charts": _assignor_charts(facts),
        "state_charts": _state_charts(facts),
    }


def _client_charts(facts: Facts) -> dict[str, str]:
    """Draw a bar per group; nothing for many groups, whose bars show little."""
    rows = facts.groups
    if len(rows) > CHART_ROWS:
        return {}
    often = Counter((row.cluster, row.group) for row in rows)
    names = [_names(row, often[row.cluster, row.group] > 1) for row in rows]
    return _wide_and_narrow(names, [row.counts for row in rows])


def _spread(facts: Facts) -> list[tuple[str, int]]:
    """Count groups by the share of their judged rebalances off the optimum."""
    bins = ["0 %", *(f"≤{10 * ten} %" for ten in range(1, 10)), "<100 %", "100 %"]
    found = Counter(
        bins[_bin(row.counts.wrong, row.counts.judged)]
        for row in facts.groups
        if row.counts.judged
    )
    return [(name, found[name]) for name in bins]


def _bin(part: int, whole: int) -> int:
    """Return 0 for none, 11 for all, otherwise the tenth, rounded up."""
    return 11 if part == whole else -(-10 * part // whole)


def _spread_words(facts: Facts) -> str:
    return ", ".join(f"{name}: {count:,}" for name, count in _spread(facts))


def _spread_charts(facts: Facts) -> dict[str, str]:
    if len(facts.groups) <= CHART_ROWS:
        return {}
    values = _spread(facts)
    return {
        name: columns(values, width=width, color="--unbalanced")
        for name, width in (("wide", WIDE), ("narrow", NARROW))
    }


def _trend_charts(trend: Trend) -> list[tuple[str, str, str]]:
    """Draw needless moves, gaps in balance, and gaps in lag per day, if several."""
    if len(trend.days) < 2:
        return []
    series = [
        ("Needless moves", "partitions", "--needless", "needless_moves"),
        ("Gap in balance", "partitions to transfer, at least", "--unbalanced", ""),
    ]
    charts = []
    for title, words, color, name in series:
        values = [
            (day.date, getattr(day.counts, name or "transfers")) for day in trend.days
        ]
        charts.append((title, words, _day_chart(values, color)))
    if trend.lag_known:
        values = [(day.date, day.lag_above) for day in trend.days]
        words = "records above the bound on peak lag, summed over generations"
        charts.append(("Gap in lag", words, _day_chart(values, "--optimum")))
        values = [(day.date, day.needless_lag) for day in trend.days]
        words = "records, the lag of needless moves, at least"
        charts.append(
            ("Lag of needless moves", words, _day_chart(values, "--needless"))
        )
    return charts


def _day_chart(values: list[tuple[str, int]], color: str) -> str:
    return columns(values, width=NARROW, height=90, color=color, labels=4)


def _state_charts(facts: Facts) -> dict[str, str]:
    """Draw the groups with snapshots that are counted."""
    rows = [row for row in facts.states.rows if row.counts.counted][:CHART_ROWS]
    names = [(row.group,) for row in rows]
    return _wide_and_narrow(names, [row.counts.bar for row in rows], share=False)


def _assignor_charts(facts: Facts) -> dict[str, str]:
    """Draw all assignors except the optima with which they are compared."""
    rows = [row for row in facts.assignors if row.name not in BESTS]
    names = [(assignor_label(row.name),) for row in rows]
    return _wide_and_narrow(names, [row.counts for row in rows])


def _wide_and_narrow(
    names: Sequence[tuple[str, ...]],
    counts: Sequence[OutcomeCounts],
    *,
    share: bool = True,
) -> dict[str, str]:
    """Draw the same bars for wide and narrow screens; the page shows one of them.

    Labels have at most about a third of a wide screen, and two fifths of a narrow one.
    """
    if not names:
        return {}
    charts: dict[str, str] = {}
    for screen, width, shown in (("wide", WIDE, 48), ("narrow", NARROW, 18)):
        labels = _distinct([_label(name, shown) for name in names])
        rows = list(zip(labels, counts, strict=True))
        charts[screen] = outcome_bars(rows, width=width, share=share)
    return charts


def gap_chart(gaps: Gaps) -> str:
    """Draw the gaps of the assignors, by size."""
    names = {row.name: assignor_label(row.name) for row in gaps.rows}
    return gap_cells(gaps, names, width=NARROW)


def _names(row: ClientRow, with_assignor: bool) -> tuple[str, ...]:
    return (row.group, row.assignor or "") if with_assignor else (row.group,)


def _label(names: Sequence[str], shown: int) -> str:
    """Join names, of which each has an equal part of the characters at least."""
    left, parts = shown - (len(names) - 1), [""] * len(names)
    shortest_first = sorted(range(len(names)), key=lambda at: len(visible(names[at])))
    for done, at in enumerate(shortest_first):
        parts[at] = abridged(names[at], left // (len(names) - done))
        left -= len(parts[at])
    return " ".join(parts)


def _distinct(labels: list[str]) -> list[str]:
    """Make labels distinct after cutting: a chart has one row per label."""
    seen: Counter[str] = Counter()
    distinct = []
    for label in labels:
        seen[label] += 1
        distinct.append(label if seen[label] == 1 else f"{label} ({seen[label]})")
    return distinct
