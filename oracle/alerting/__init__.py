"""Figures of an audit for alerts: per group, and as Prometheus' metrics."""

from oracle.alerting.audit_figures import AuditFigures, read_figures
from oracle.alerting.prometheus_text import metrics_text

__all__ = ["AuditFigures", "metrics_text", "read_figures"]
