"""Summary of an audit: tables for people, one document for programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from oracle.cli.printing.answer_tables import NAME_SHOWN
from oracle.cli.printing.parts import Part, Sheet, TextLine
from oracle.names import abridged, visible
from pipeline.tables import PAGE

if TYPE_CHECKING:
    from oracle.report.client_row import ClientRow
    from oracle.report.facts import Facts
    from oracle.report.harm import Harm
    from pipeline.audit import AuditSummary


def audit_document(summary: AuditSummary, facts: Facts) -> dict[str, Any]:
    """Return the summary for ``--json``."""
    return {
        "format": "audit-summary/1",
        "page": f"{summary.out}/{PAGE}",
        "tables": summary.tables,
        "java": summary.java,
        "rows": summary.rows,
        "quarantine": summary.quarantine,
        "groups": [
            {
                "cluster": row.cluster,
                "group": row.group,
                "assignor": row.assignor,
                "judged": row.counts.judged,
                "at_optimum": row.counts.optimum,
                "needless_moves": row.counts.needless_moves,
                "moved_needlessly": row.counts.needless,
                "unbalanced": row.counts.unbalanced,
                "invalid": row.counts.invalid,
                "open": row.counts.open,
            }
            for row in facts.groups
        ],
        "snapshots": [
            {
                "cluster": row.cluster,
                "group": row.group,
                "balanced": row.counts.balanced,
                "unbalanced": row.counts.unbalanced,
                "invalid": row.counts.invalid,
                "undetermined": row.counts.undetermined,
                "balanced_if_equal": row.counts.if_balanced,
                "unbalanced_if_equal": row.counts.if_unbalanced,
                "in_records": row.counts.recorded,
            }
            for row in facts.states.rows
        ],
    }


def audit_parts(
    summary: AuditSummary, facts: Facts, used: Mapping[str, Any]
) -> list[Part]:
    """Lay out the results of clients and snapshots, and where tables and page are.

    ``used`` are the parameters of the audit, with the side files that it found. The
    first line is the page's, and the order of the groups, too.
    """
    from oracle.report.finding import headline

    columns = (
        "group",
        "assignor",
        "rebalances",
        "unread partition-s",
        "needless moves",
        "invalid",
        "unbalanced",
        "at the optimum",
    )
    rows = [_row(row) for row in facts.clients]
    parts: list[Part] = [
        TextLine(f"{headline(facts).text}.", bold=True),
        TextLine(""),
        Sheet("Results of the clients", columns, rows),
        TextLine(""),
    ]
    if facts.states.rows:
        parts += [_snapshots(facts), TextLine("")]
    if summary.quarantine:
        quarantined = [
            (count, visible(reason, limit=100))
            for reason, count in summary.quarantine.items()
        ]
        parts += [Sheet("Not judged", ("records", "reason"), quarantined), TextLine("")]
    side = _side_files(used)
    if side:
        parts.append(TextLine(f"with    {side}"))
    return [
        *parts,
        TextLine(f"java    {visible(summary.java)}"),
        TextLine(f"tables  {visible(summary.out)}"),
        TextLine(f"page    {visible(f'{summary.out}/{PAGE}')}"),
    ]


def _row(row: ClientRow) -> tuple[str | int | None, ...]:
    counts = row.counts
    return (
        abridged(row.group, NAME_SHOWN),
        abridged(row.assignor or "unknown", NAME_SHOWN),
        counts.judged,
        _unread(row.harm),
        counts.needless_moves,
        counts.invalid,
        counts.unbalanced,
        counts.optimum,
    )


def _unread(harm: Harm) -> str | None:
    """Return partition-seconds without a reader or with several, as plain digits."""
    from oracle.report.harm import seconds_text

    if harm.unknown and not harm.invalid:
        return "unknown"
    if harm.invalid is None:
        return None
    return seconds_text(harm.invalid).replace(",", "")


def _snapshots(facts: Facts) -> Part:
    columns = (
        "group",
        "balanced",
        "unbalanced",
        "invalid",
        "cannot be determined",
        "balanced if equal",
        "unbalanced if equal",
        "in the records",
    )
    rows = [
        (
            abridged(row.group, NAME_SHOWN),
            row.counts.balanced,
            row.counts.unbalanced,
            row.counts.invalid,
            row.counts.undetermined,
            row.counts.if_balanced,
            row.counts.if_unbalanced,
            row.counts.recorded,
        )
        for row in facts.states.rows
    ]
    return Sheet("Snapshots", columns, rows)


def _side_files(used: Mapping[str, Any]) -> str:
    """Return the side files that the audit used."""
    said = {
        "topics": "partition counts from",
        "offsets": "lag from",
        "subscriptions": "subscriptions from",
    }
    return ", ".join(
        f"{words} {visible(used[key])}" for key, words in said.items() if used.get(key)
    )
