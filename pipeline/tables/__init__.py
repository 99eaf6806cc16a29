"""Schemas of the audit's tables."""

from pipeline.tables.columns import UNDATED
from pipeline.tables.schemas import (
    LAYOUT,
    ORDER,
    PARTITION_COLUMNS,
    SCHEMAS,
)

__all__ = ["LAYOUT", "ORDER", "PARTITION_COLUMNS", "SCHEMAS", "UNDATED"]
