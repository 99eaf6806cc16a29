"""Schemas of the audit's tables."""

from pipeline.tables.columns import UNDATED
from pipeline.tables.layout import refuse_other_layout
from pipeline.tables.run_metrics import RUN, RUN_TABLE
from pipeline.tables.schemas import (
    LAYOUT,
    ORDER,
    PARTITION_COLUMNS,
    SCHEMAS,
    TABLES,
)

__all__ = [
    "LAYOUT",
    "ORDER",
    "PARTITION_COLUMNS",
    "RUN",
    "RUN_TABLE",
    "SCHEMAS",
    "TABLES",
    "UNDATED",
    "refuse_other_layout",
]
