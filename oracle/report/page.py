"""Assembly of facts, charts, and outliers into one HTML file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from oracle.names import abridged, visible
from oracle.report.about import read_about
from oracle.report.audited import audited_of
from oracle.report.best import ACTUAL, BESTS
from oracle.report.charts import LABEL_SHOWN, gap_cells, outcome_bars
from oracle.report.facts import ClientRow, Facts, facts_of, units_of
from oracle.report.finding import example_counts, headline
from oracle.report.gaps import Gaps, gaps_of
from oracle.report.kip54 import kip54_of
from oracle.report.load import load
from oracle.report.outcomes import Counts
from oracle.report.outliers import outliers_of
from oracle.wording import counted, loads_text, percent, share
from oracle.writing import written_aside

WIDE: Final = 1080
NARROW: Final = 340
CHART_ROWS: Final = 20
NAME_SHOWN: Final = 36
TITLE_SHOWN: Final = 300

CLIENTS: Final = "as recorded"
"""Name of the assignor ``actual`` on the page."""


def write_page(tables: Path, out: Path, *, command: str | None = None) -> None:
    """Write the page of an audit.

    Parameters
    ----------
    tables
        Folder of the audit's tables.
    out
        File to write; it appears once it is complete.
    command
        Command that repeats the audit, shown at the end of the page.

    Raises
    ------
    SourceError
        If the folder holds no audit.
    OutputError
        If the file cannot be written.
    """
    html = page_of(tables, command=command).encode()
    with written_aside(out) as writer:
        writer.write(html)


def page_of(folder: Path, *, command: str | None = None) -> str:
    """Return the page as HTML."""
    tables = load(folder)
    about = read_about(folder)
    units = units_of(tables)
    facts = facts_of(tables, units)
    order = [row.name for row in facts.assignors]
    return (
        _environment()
        .get_template("page.html")
        .render(
            about=about,
            command=command,
            chart_rows=CHART_ROWS,
            audited=audited_of(tables),
            facts=facts,
            headline=headline(facts),
            client_charts=_client_charts(facts),
            assignor_charts=_assignor_charts(facts),
            state_charts=_state_charts(facts),
            gaps=[(gaps, _gap_chart(gaps)) for gaps in gaps_of(tables.answers, order)],
            kip54=kip54_of(tables, units, order),
            cases=outliers_of(tables, units, about.claim_rule),
            many_clusters=len(_clusters(facts)) > 1,
        )
    )


def _client_charts(facts: Facts) -> dict[str, str]:
    rows = facts.clients[:CHART_ROWS]
    often = Counter((row.cluster, row.group) for row in rows)
    labels = _distinct([_label(row, often[row.cluster, row.group] > 1) for row in rows])
    pairs = [(label, row.counts) for label, row in zip(labels, rows, strict=True)]
    return _wide_and_narrow(pairs)


def _clusters(facts: Facts) -> set[str]:
    return {row.cluster for row in facts.clients} | {
        row.cluster for row in facts.states.rows
    }


def _state_charts(facts: Facts) -> dict[str, str]:
    """Draw the groups with snapshots that are counted."""
    rows = [row for row in facts.states.rows if row.counts.counted][:CHART_ROWS]
    labels = _distinct([abridged(row.group, LABEL_SHOWN) for row in rows])
    bars = [row.counts.bar for row in rows]
    return _wide_and_narrow(list(zip(labels, bars, strict=True)))


def _assignor_charts(facts: Facts) -> dict[str, str]:
    """Draw all assignors except the optima with which they are compared."""
    rows = [row for row in facts.assignors if row.name not in BESTS]
    return _wide_and_narrow([(_assignor_label(row.name), row.counts) for row in rows])


def _wide_and_narrow(pairs: list[tuple[str, Counts]]) -> dict[str, str]:
    """Draw the same bars for wide and narrow screens; the page shows one of them."""
    if not pairs:
        return {}
    return {
        "wide": Markup(outcome_bars(pairs, width=WIDE)),  # noqa: S704 - escaped by Vega
        "narrow": Markup(outcome_bars(pairs, width=NARROW)),  # noqa: S704
    }


def _gap_chart(gaps: Gaps) -> str:
    names = {row.name: _assignor_label(row.name) for row in gaps.rows}
    return Markup(gap_cells(gaps, names, width=NARROW))  # noqa: S704 - as above


def _label(row: ClientRow, with_assignor: bool) -> str:
    if not with_assignor:
        return abridged(row.group, LABEL_SHOWN)
    half = LABEL_SHOWN // 2
    return f"{abridged(row.group, half)} {abridged(row.assignor or '', half)}"


def _assignor_label(name: str) -> str:
    return CLIENTS if name == ACTUAL else name


def _distinct(labels: list[str]) -> list[str]:
    """Make labels distinct after cutting: a chart has one row per label."""
    seen: Counter[str] = Counter()
    told = []
    for label in labels:
        seen[label] += 1
        told.append(label if seen[label] == 1 else f"{label} ({seen[label]})")
    return told


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("oracle.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "name": _name,
        "n": lambda number: f"{number:,}",
        "when": lambda moment: f"{moment:%Y-%m-%d %H:%M:%S} UTC",
        "loads": loads_text,
        "assignor": _assignor_label,
        "plain": lambda text: visible(str(text), limit=TITLE_SHOWN),
    }
    environment.globals |= {
        "share": share,
        "percent": percent,
        "counted": counted,
        "example_counts": example_counts,
    }
    return environment


def _name(text: str, limit: int = NAME_SHOWN) -> Markup:
    """Escape a name from the input for the page."""
    shown, whole = abridged(text, limit), visible(text, limit=TITLE_SHOWN)
    if shown == whole:
        return Markup("<bdi>{}</bdi>").format(shown)
    return Markup('<bdi title="{}">{}</bdi>').format(whole, shown)
