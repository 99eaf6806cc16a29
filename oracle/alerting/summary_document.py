"""An audit as audit-summary/2, from the facts of its page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from oracle.alerting.summary_records import (
    AuditSummaryDocument,
    SummarizedGroup,
    SummarizedSnapshots,
)
from oracle.report.finding import headline
from pipeline.tables import PAGE

if TYPE_CHECKING:
    from oracle.report.client_row import ClientRow
    from oracle.report.facts import Facts
    from oracle.report.states import StateRow
    from pipeline.audit import AuditSummary


def audit_summary(
    summary: AuditSummary, facts: Facts, manifest: Mapping[str, Any]
) -> AuditSummaryDocument:
    """Return the summary of an audit; ``manifest`` is its ``audit.json``."""
    parameters = manifest["parameters"]
    first = headline(facts)
    return AuditSummaryDocument.known(
        cluster=parameters["cluster"],
        headline=f"{first.group} {first.words}".strip(),
        since=parameters.get("since"),
        until=parameters.get("until"),
        asked_groups=parameters.get("groups") or None,
        newest_record=manifest["newest_record"],
        started=summary.started.isoformat(timespec="seconds"),
        finished=summary.finished.isoformat(timespec="seconds"),
        versions=manifest["versions"],
        java=summary.java,
        page=f"{summary.out}/{PAGE}",
        tables=summary.tables,
        rows=summary.rows,
        quarantine=summary.quarantine,
        groups=[_group(row) for row in facts.groups],
        snapshots=[_snapshots(row) for row in facts.states.rows],
    )


def _group(row: ClientRow) -> SummarizedGroup:
    counts, harm = row.counts, row.harm
    return SummarizedGroup.known(
        cluster=row.cluster,
        group=row.group,
        assignor=row.assignor,
        judged=counts.judged,
        at_optimum=counts.optimum,
        moved_needlessly=counts.needless,
        needless_moves=counts.needless_moves,
        unbalanced=counts.unbalanced,
        invalid=counts.invalid,
        open=counts.open,
        unread_partition_ms=harm.unread,
        shared_partition_ms=harm.shared,
        waiting_partition_ms=harm.waiting,
        imbalance_partition_ms=harm.imbalance,
        invalid_unknown=harm.unknown,
        lasts_to_end=harm.open,
        advice=row.advice,
    )


def _snapshots(row: StateRow) -> SummarizedSnapshots:
    counts = row.counts
    return SummarizedSnapshots(
        cluster=row.cluster,
        group=row.group,
        balanced=counts.balanced,
        unbalanced=counts.unbalanced,
        invalid=counts.invalid,
        undetermined=counts.undetermined,
        balanced_if_equal=counts.if_balanced,
        unbalanced_if_equal=counts.if_unbalanced,
        in_records=counts.recorded,
    )
