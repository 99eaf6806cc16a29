"""Columns on how long a rebalance lasts."""

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
