"""The audit of a history on Spark: from sources to tables in a folder."""

from pipeline.audit.follower import Follower, NewRecords, following
from pipeline.audit.request import AuditRequest
from pipeline.audit.run import AuditSummary, audit
from pipeline.audit.spared_pandas import spare_pandas
from pipeline.audit_writing import is_part_of_audit, refuse_replaced

__all__ = [
    "AuditRequest",
    "AuditSummary",
    "Follower",
    "NewRecords",
    "audit",
    "following",
    "is_part_of_audit",
    "refuse_replaced",
    "spare_pandas",
]
