"""Assembly of facts, charts, and outliers into one HTML file."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import partial
from importlib import resources
from itertools import islice
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from markupsafe import Markup

from oracle.report.about import read_about
from oracle.report.audited import audited_of
from oracle.report.causes_listed import causes_listed
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
    units_of,
)
from oracle.report.finding import harm_words, headline
from oracle.report.first_answers import busiest_group, first_answers
from oracle.report.gaps import BESTS, gaps_of
from oracle.report.group_index import Group, case_id, group_data, group_ids
from oracle.report.kip54 import kip54_of
from oracle.report.known_faults import findings_and_shapes
from oracle.report.load import Tables, load, system_allocator
from oracle.report.news import News
from oracle.report.openable import newest_units, rebalance_data
from oracle.report.outliers import Outlier, outlier_of, solved, worst_units
from oracle.report.page_charts import chart_parts, gap_chart
from oracle.report.page_templates import environment
from oracle.report.spared_revocations import COOPERATIVE_PRICE, NEXT_PRICE
from oracle.report.timeline_parts import timeline_parts
from oracle.report.timelines import timelines_of
from oracle.report.what_ifs import LONGER_DELAY, STATIC_IDS
from oracle.writing import replacing
from pipeline.evaluation import ACTUAL, OPTIMUM
from rebalance import ClaimRule, without_collection

ROWS_SHOWN: Final = 8
NAMES_SHOWN: Final = 12
"""Names of groups that one row has; scripts list the others."""

_ASSUMED: Final = {
    "Static membership": STATIC_IDS,
    "A longer delay": LONGER_DELAY,
    "Cooperative rebalancing": COOPERATIVE_PRICE,
    "The new protocol": NEXT_PRICE,
}
"""Other settings, and the conditions of the counts of avoided rebalances."""
_INSTANCE: Final = """{"format": "rebalance/1", "group": "g",
    "topics": {"t": {"partitions": 2}},
    "members": {"a": {"subscription": ["t"]}, "b": {"subscription": [%s]}}}"""
_SUBSCRIPTIONS: Final = ('"t"', "")
"""Of the second member: equal and different ones have a kernel each."""
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
    with system_allocator(), without_collection():
        html, facts = _rendered(tables, command, news)
    with replacing(out) as writer:
        writer.write(html.encode())
    return facts


def prepare_page() -> None:
    """Load the data of every page: templates, findings, compiled engine, and judge.

    That takes longer than to write the page of a small audit; it can be done in a
    thread while Spark starts.
    """
    templates = environment()
    for name in templates.list_templates(extensions=("html", "css")):
        templates.get_template(name)
    findings_and_shapes()
    for topics in _SUBSCRIPTIONS:
        outlier_of(_INSTANCE % topics, _UNBALANCED, ClaimRule.NEWEST_CLAIM.value)


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
    html = (
        environment()
        .get_template("page.html")
        .render(
            about=about,
            command=command,
            news=news,
            **_scripts(),
            rows_shown=ROWS_SHOWN,
            **_group_parts(facts, endless_of(tables.rebalances, tables.episodes)),
            **chart_parts(facts),
            **timeline_parts(facts, timelines_of(tables), first, many_clusters),
            **_cause_parts(tables, units, facts, about.made_at),
            **_assignor_parts(tables, units, facts),
            audited=audited_of(tables),
            facts=facts,
            headline=headline(facts),
            **_case_parts(tables, units, facts, about.claim_rule, many_clusters),
        )
    )
    return html, facts


def _cause_parts(
    tables: Tables, units: pa.Table, facts: Facts, made_at: str
) -> dict[str, Any]:
    """Return the causes of the first groups, and the answers at the top."""
    first, busiest = _first_groups(facts), busiest_group(tables.rebalances)
    shown = dict.fromkeys([*first, *([busiest] if busiest else [])])
    causes = causes_listed(tables, shown)
    return {
        "first_answers": first_answers(facts, units, causes, busiest, made_at),
        "causes_listed": [row for row in causes if (row.cluster, row.group) in first],
        "harmed": {(row.cluster, row.group) for row in facts.groups if harm_words(row)},
        "assumed": _ASSUMED,
    }


def _case_parts(
    tables: Tables,
    units: pa.Table,
    facts: Facts,
    claim_rule: str,
    many_clusters: bool,
) -> dict[str, Any]:
    """Judge the worst rebalances again, and those that a reader can open."""
    groups = _first_groups(facts)
    worst, newest = worst_units(units), newest_units(units, groups)
    judged = solved(tables, [*worst, *newest], claim_rule)
    cases = [*islice(judged, len(worst))]
    return {
        "cases": cases,
        "cases_of": _cases_of(cases),
        "many_clusters": many_clusters,
        "case_id": partial(case_id, many_clusters=many_clusters),
        "rebalance_data": rebalance_data(
            judged, len(groups), many_clusters=many_clusters
        ),
    }


def _assignor_parts(tables: Tables, units: pa.Table, facts: Facts) -> dict[str, Any]:
    """Compare the assignors with the optimum, with KIP-54's, and with least lag."""
    order = [row.name for row in facts.assignors]
    gaps = [found for found in gaps_of(tables.answers, order) if found.rows]
    return {
        "gaps": [(found, gap_chart(found)) for found in gaps],
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
    data, searched = group_data(facts.patterns, facts.groups, ids, restless)
    row_ids = dict(zip(facts.groups, ids, strict=True))
    shown = [fold.first for fold in facts.folds]
    return {
        "group_data": data,
        "row_ids": row_ids,
        "fold_places": {fold.first: at for at, fold in enumerate(facts.patterns)},
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
