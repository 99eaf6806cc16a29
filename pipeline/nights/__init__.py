"""Night after night: an audit that continues the tables and the records of earlier."""

from pipeline.nights.store_state import AuditEntry, StoreState
from pipeline.nights.table_links import linked_tables

__all__ = ["AuditEntry", "StoreState", "linked_tables"]
