"""Assembly of facts, charts, and outliers into one HTML file."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from markupsafe import Markup

from oracle.names import abridged, visible
from oracle.report.about import read_about
from oracle.report.audited import audited_of
from oracle.report.causes_listed import causes_listed
from oracle.report.charts import (
    columns,
    gap_cells,
    outcome_bars,
    with_numbered_clips,
)
from oracle.report.client_row import ClientRow
from oracle.report.endless import (
    BUSY,
    GROUPS_LISTED,
    HOURS,
    ROUNDS,
    EndlessRow,
    endless_of,
)
from oracle.report.facts import (
    AssignorRow,
    Facts,
    facts_of,
    folds_of,
    units_of,
)
from oracle.report.finding import headline
from oracle.report.gaps import BESTS, Gaps, gaps_of
from oracle.report.group_index import (
    Group,
    case_id,
    group_data,
    group_ids,
)
from oracle.report.kip54 import kip54_of
from oracle.report.known_faults import findings_and_shapes
from oracle.report.load import Tables, load, system_allocator
from oracle.report.news import News
from oracle.report.openable import rebalance_data
from oracle.report.outcomes import OutcomeCounts
from oracle.report.outliers import Outlier, outlier_of, outliers_of
from oracle.report.page_templates import assignor_label, environment
from oracle.report.spared_revocations import COOPERATIVE_PRICE, NEXT_PRICE
from oracle.report.timeline_parts import timeline_parts
from oracle.report.timelines import timelines_of
from oracle.report.trend import Trend
from oracle.report.what_ifs import LONGER_DELAY, STATIC_IDS
from oracle.writing import replacing
from pipeline.evaluation import ACTUAL, OPTIMUM
from rebalance import ClaimRule

WIDE: Final = 1080
NARROW: Final = 340
CHART_ROWS: Final = 20
ROWS_SHOWN: Final = 8
NAMES_SHOWN: Final = 12
"""Names of groups that one row has; scripts list the others."""

_INSTANCE: Final = """{"format": "rebalance/1", "group": "g",
    "topics": {"t": {"partitions": 2}},
    "members": {"a": {"subscription": ["t"]}, "b": {"subscription": ["t"]}}}"""
_UNBALANCED: Final = """{"format": "assignment/1",
    "members": {"a": {"t": [0, 1]}, "b": {}}}"""


def write_page(
    tables: Path, out: Path, *, command: str | None = None, news: News | None = None
) -> Facts:
    """Write the page of an audit; return the facts on it.

    Parameters
    ----------
    tables
        Folder of the audit's tables.
    out
        File to write; it appears once it is complete.
    command
        Command that repeats the audit, shown at the end of the page.
    news
        Changes since the audit before, shown at the top.

    Raises
    ------
    SourceError
        If the folder holds no audit.
    OutputError
        If the file cannot be written.
    DisagreementError
        If the judge disagrees with a row of a rebalance that the page shows.
    """
    with system_allocator():
        html, facts = _rendered(tables, command, news)
    with replacing(out) as writer:
        writer.write(html.encode())
    return facts


def prepare_page() -> None:
    """Load the data of every page: templates, Vega, and the compiled engine and judge.

    That takes longer than to write the page of a small audit; it can be done in a
    thread while Spark starts.
    """
    templates = environment()
    for name in templates.list_templates(extensions=("html", "css")):
        templates.get_template(name)
    columns([("a", 1)], width=NARROW, color="--optimum")
    findings_and_shapes()
    outlier_of(_INSTANCE, _UNBALANCED, ClaimRule.NEWEST_CLAIM.value)


def page_of(
    folder: Path, *, command: str | None = None, news: News | None = None
) -> str:
    """Return the page as HTML."""
    return _rendered(folder, command, news)[0]


def _rendered(
    folder: Path, command: str | None, news: News | None
) -> tuple[str, Facts]:
    tables = load(folder)
    about = read_about(folder)
    units = units_of(tables)
    facts = facts_of(tables, units)
    first = _first_groups(facts)
    many_clusters = len(_clusters(facts)) > 1
    cases = outliers_of(tables, units, about.claim_rule)
    opened = rebalance_data(
        tables,
        units,
        [fold.first for fold in facts.folds],
        about.claim_rule,
        many_clusters=many_clusters,
    )
    html = (
        environment()
        .get_template("page.html")
        .render(
            about=about,
            command=command,
            news=news,
            **_scripts(),
            rebalance_data=opened,
            rows_shown=ROWS_SHOWN,
            **_group_parts(facts, endless_of(tables.rebalances, tables.episodes)),
            **_chart_parts(facts),
            **timeline_parts(facts, timelines_of(tables), first, many_clusters),
            causes_listed=causes_listed(tables, first),
            assumed={
                "Static membership": STATIC_IDS,
                "A longer delay": LONGER_DELAY,
                "Cooperative rebalancing": COOPERATIVE_PRICE,
                "The new protocol": NEXT_PRICE,
            },
            **_assignor_parts(tables, units, facts),
            audited=audited_of(tables),
            facts=facts,
            headline=headline(facts),
            cases=cases,
            cases_of=_cases_of(cases),
            many_clusters=many_clusters,
            case_id=partial(case_id, many_clusters=many_clusters),
        )
    )
    return with_numbered_clips(html), facts


def _assignor_parts(tables: Tables, units: pa.Table, facts: Facts) -> dict[str, Any]:
    """Compare the assignors with the optimum, with KIP-54's, and with least lag."""
    order = [row.name for row in facts.assignors]
    gaps = [found for found in gaps_of(tables.answers, order) if found.rows]
    return {
        "gaps": [(found, _gap_chart(found)) for found in gaps],
        "kip54": kip54_of(tables, units, order),
        "lag_best": _lag_best(facts),
        "lag_optimum": _lag_optimum(facts),
    }


def _first_groups(facts: Facts) -> list[Group]:
    """Return the groups of the table's rows, each once."""
    rows = (fold.first for fold in facts.folds)
    return [*dict.fromkeys((row.cluster, row.group) for row in rows)]


def _group_parts(facts: Facts, endless: Sequence[EndlessRow]) -> dict[str, Any]:
    """Return the ids, links, and data of all groups, and those that do not rest."""
    ids = group_ids(facts.groups, many_clusters=len(_clusters(facts)) > 1)
    restless = {(row.cluster, row.group) for row in endless}
    patterns = [fold for fold in folds_of(facts.groups) if fold.pattern]
    data, searched = group_data(patterns, facts.groups, ids, restless)
    row_ids = dict(zip(facts.groups, ids, strict=True))
    shown = [fold.first for fold in facts.folds]
    return {
        "group_data": data,
        "row_ids": row_ids,
        "fold_places": {fold.first: at for at, fold in enumerate(patterns)},
        "names_shown": NAMES_SHOWN,
        "group_links": {
            (row.cluster, row.group): row_ids[row] for row in shown if row_ids[row]
        },
        "rows_of_group": Counter((row.cluster, row.group) for row in facts.groups),
        "groups_left_out": len(facts.groups) - searched,
        "endless": endless,
        "endless_shown": GROUPS_LISTED,
        "busy": BUSY,
        "busy_hours": HOURS,
        "endless_rounds": ROUNDS,
    }


def _chart_parts(facts: Facts) -> dict[str, Any]:
    """Draw the charts of the facts."""
    return {
        "spread_charts": _spread_charts(facts),
        "spread_words": _spread_words(facts),
        "trend_charts": _trend_charts(facts.trend),
        "client_charts": _client_charts(facts),
        "assignor_charts": _assignor_charts(facts),
        "state_charts": _state_charts(facts),
    }


def _cases_of(cases: Sequence[Outlier]) -> defaultdict[Group, list[Outlier]]:
    """Return the drawn rebalances of each group, in the order of the page."""
    found: defaultdict[Group, list[Outlier]] = defaultdict(list)
    for case in cases:
        found[case.cluster, case.group].append(case)
    return found


def _scripts() -> dict[str, str]:
    """Return the script, and its source for the Content-Security-Policy."""
    folder = resources.files("oracle.report").joinpath("templates")
    names = ("elements.js", "timelines.js", "groups.js", "rebalances.js")
    text = "".join(folder.joinpath(name).read_text(encoding="utf-8") for name in names)
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return {
        "script": Markup(text),  # noqa: S704 - our own
        "script_digest": f"sha256-{digest}",
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
        name: Markup(columns(values, width=width, color="--unbalanced"))  # noqa: S704
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
    drawn = columns(values, width=NARROW, height=90, color=color, labels=4)
    return Markup(drawn)  # noqa: S704 - as above


def _lag_best(facts: Facts) -> AssignorRow | None:
    """Return the assignor that is most often at the bound on peak lag."""
    others = [row for row in facts.assignors if row.name not in (*BESTS, ACTUAL)]
    rows = [row for row in others if row.lag.known]
    return max(rows, key=lambda row: row.lag.at_bound / row.lag.known, default=None)


def _lag_optimum(facts: Facts) -> AssignorRow | None:
    rows = [row for row in facts.assignors if row.name == OPTIMUM and row.lag.known]
    return rows[0] if rows else None


def _clusters(facts: Facts) -> set[str]:
    return {row.cluster for row in facts.groups} | {
        row.cluster for row in facts.states.rows
    }


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
        bars = outcome_bars(rows, width=width, share=share)
        charts[screen] = Markup(bars)  # noqa: S704 - escaped by Vega
    return charts


def _gap_chart(gaps: Gaps) -> str:
    names = {row.name: assignor_label(row.name) for row in gaps.rows}
    return Markup(gap_cells(gaps, names, width=NARROW))  # noqa: S704 - as above


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
