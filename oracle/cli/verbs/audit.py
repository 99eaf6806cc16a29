"""``audit``: judge a cluster's history; write tables and the HTML page."""

from __future__ import annotations

from oracle.cli.options.audit import AuditOptions


def audit(options: AuditOptions) -> None:
    """Judge every rebalance of a cluster's history; write tables and an HTML page.

    Solves each rebalance, runs every assignor on it, and judges their assignments and
    those of the clients. An existing audit in the folder is replaced once the new one
    is complete. The same command continues an audit that was interrupted. Exit code 4
    if part of the input was lost; the rest is judged.

    Example: assignor-oracle audit recordings/churn --out out/audit

    Example: assignor-oracle audit --bootstrap-server localhost:9092 --follow --out out
    """
    if options.follow:
        from oracle.cli.runs.audit_updates import run_follow

        run_follow(options)
    from oracle.cli.runs.audit import run_audit

    run_audit(options)
