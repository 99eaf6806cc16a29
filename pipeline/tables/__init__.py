"""Schemas of the audit's tables, and a reader."""

from pipeline.tables.harm_columns import HARM
from pipeline.tables.run_metrics import RUN, RUN_TABLE
from pipeline.tables.schemas import (
    LAYOUT,
    ORDER,
    PARTITION_COLUMNS,
    SCHEMAS,
    TABLES,
)
from pipeline.tables.shared_columns import UNDATED
from pipeline.tables.stored_manifest import (
    FORMAT,
    MANIFEST,
    PAGE,
    STORE_FORMAT,
    STORE_STATE,
    read_manifest,
)
from pipeline.tables.table_reading import opened_table, read_table
from pipeline.tables.transfer_bound import least_transfers

__all__ = [
    "FORMAT",
    "HARM",
    "LAYOUT",
    "MANIFEST",
    "ORDER",
    "PAGE",
    "PARTITION_COLUMNS",
    "RUN",
    "RUN_TABLE",
    "SCHEMAS",
    "STORE_FORMAT",
    "STORE_STATE",
    "TABLES",
    "UNDATED",
    "least_transfers",
    "opened_table",
    "read_manifest",
    "read_table",
]
