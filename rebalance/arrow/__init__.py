"""Both documents as Arrow tables: schemas, and conversion both ways."""

from rebalance.arrow.table import (
    ASSIGNMENTS,
    REBALANCES,
    VALUE,
    assignments_from_table,
    assignments_to_table,
    from_table,
    to_table,
)

__all__ = [
    "ASSIGNMENTS",
    "REBALANCES",
    "VALUE",
    "assignments_from_table",
    "assignments_to_table",
    "from_table",
    "to_table",
]
