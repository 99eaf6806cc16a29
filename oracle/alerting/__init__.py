"""Figures of an audit for alerts and programs: per group, as metrics, and as JSON."""

from oracle.alerting.audit_figures import AuditFigures, read_figures
from oracle.alerting.prometheus_text import metrics_text
from oracle.alerting.summary_document import audit_summary
from oracle.alerting.summary_records import AuditSummaryDocument

__all__ = [
    "AuditFigures",
    "AuditSummaryDocument",
    "audit_summary",
    "metrics_text",
    "read_figures",
]
