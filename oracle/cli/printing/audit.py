"""Summary of an audit as tables for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from oracle.cli.printing.answer_tables import NAME_SHOWN
from oracle.cli.printing.parts import Cell, Part, Sheet, TextLine, sheet_of
from oracle.names import abridged, visible
from pipeline.tables import PAGE

if TYPE_CHECKING:
    from oracle.report.client_row import ClientRow
    from oracle.report.facts import Facts
    from oracle.report.harm import Harm
    from oracle.report.states import StateRow
    from pipeline.audit import AuditSummary


_OF_CLIENTS: Final[dict[str, Callable[[ClientRow], Cell]]] = {
    "group": lambda row: abridged(row.group, NAME_SHOWN),
    "assignor": lambda row: abridged(row.assignor or "unknown", NAME_SHOWN),
    "rebalances": lambda row: row.counts.judged,
    "unread partition-s": lambda row: _unread(row.harm),
    "needless moves": lambda row: row.counts.needless_moves,
    "invalid": lambda row: row.counts.invalid,
    "unbalanced": lambda row: row.counts.unbalanced,
    "at the optimum": lambda row: row.counts.optimum,
}
_OF_SNAPSHOTS: Final[dict[str, Callable[[StateRow], Cell]]] = {
    "group": lambda row: abridged(row.group, NAME_SHOWN),
    "balanced": lambda row: row.counts.balanced,
    "unbalanced": lambda row: row.counts.unbalanced,
    "invalid": lambda row: row.counts.invalid,
    "cannot be determined": lambda row: row.counts.undetermined,
    "balanced if equal": lambda row: row.counts.if_balanced,
    "unbalanced if equal": lambda row: row.counts.if_unbalanced,
    "in the records": lambda row: row.counts.recorded,
}


def audit_parts(
    summary: AuditSummary, facts: Facts, used: Mapping[str, Any]
) -> list[Part]:
    """Lay out the results of clients and snapshots, and where tables and page are.

    ``used`` are the parameters of the audit, with the side files that it found. The
    first lines are the page's, and the order of the groups, too.
    """
    from oracle.report.finding import headline
    from oracle.report.first_answers import advised_row

    parts: list[Part] = [TextLine(f"{headline(facts).text}.", bold=True)]
    if row := advised_row(facts):
        group = abridged(row.group, NAME_SHOWN)
        parts.append(TextLine(f"How to help {group}: {visible(row.advice)}."))
    parts += [
        TextLine(""),
        sheet_of("Results of the clients", _OF_CLIENTS, facts.clients),
        TextLine(""),
    ]
    if facts.states.rows:
        parts += [
            sheet_of("Snapshots", _OF_SNAPSHOTS, facts.states.rows),
            TextLine(""),
        ]
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


def _unread(harm: Harm) -> str | None:
    """Return partition-seconds without a reader or with several, as plain digits."""
    from oracle.report.harm import seconds_text

    if harm.unknown and not harm.invalid:
        return "unknown"
    if harm.invalid is None:
        return None
    return seconds_text(harm.invalid).replace(",", "")


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
