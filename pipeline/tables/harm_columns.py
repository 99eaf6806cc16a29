"""Columns on how long a rebalance lasts, and on the harm that it does meanwhile."""

from __future__ import annotations

from typing import Final

from pipeline.tables.shared_columns import COUNT, TEXT, TIME, column

LASTED: Final = (
    column(
        "until",
        TIME,
        "when the group's next state began: the next generation or target assignment,"
        " or the record by which it is empty or deleted; where there is none, the end"
        " of the history (the latest time of any record); null: unknown",
    ),
    column(
        "ended",
        TEXT,
        "next: another rebalance; empty: no member, or deleted; open: the history ends;"
        " null: the source has no history",
    ),
    column("lasted_ms", COUNT, "`until` minus `at`; null: not known"),
    column(
        "lasted_unknown",
        TEXT,
        "why `lasted_ms` is not known: no-time; clock-went-back (as `unowned_unknown`"
        " of `episodes`)",
    ),
)

_KNOWN: Final = "of actual: {}, times `lasted_ms` of its rebalance; null: not known"
_HARMED: Final = {
    "unread": "partitions that it leaves to no member though one subscribes to them"
    " (rule unassigned)",
    "shared": "partitions that it gives to several members",
    "waiting": "partitions withheld beyond those that the proved optimum withholds in"
    " the same round",
    "imbalance": "least number of partitions to transfer until its loads are dec-min"
    " balanced",
}
HARM: Final = tuple(
    column(f"{name}_partition_ms", COUNT, _KNOWN.format(partitions))
    for name, partitions in _HARMED.items()
)
