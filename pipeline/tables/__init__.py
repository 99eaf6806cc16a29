"""Schemas of the audit's tables."""

from pipeline.tables.schemas import (
    LAYOUT,
    ORDER,
    PARTITION_COLUMNS,
    SCHEMAS,
    UNDATED,
)

__all__ = ["LAYOUT", "ORDER", "PARTITION_COLUMNS", "SCHEMAS", "UNDATED"]
