"""The audit of a history on Spark: from sources to tables in a folder."""

from pipeline.audit.run import AuditSummary, audit

__all__ = ["AuditSummary", "audit"]
