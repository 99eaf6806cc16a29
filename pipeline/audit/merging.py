"""Merge the files of a table and day of a store, if many nights have written some."""

from __future__ import annotations

from datetime import date

from pipeline.audit.sorting import in_order_once
from pipeline.nights.history_store import HistoryStore
from pipeline.nights.store_files import FINAL
from pipeline.tables import ORDER, PARTITION_COLUMNS, SCHEMAS


def merge_files(store: HistoryStore, first: date | None, cluster: str) -> None:
    """Merge files, of the next night, too: with it, they count as one.

    ``first`` is the first day that the next night keeps.
    """
    for files in store.many(first):
        name = files[0].table
        rows = in_order_once(
            store.rows(files, cluster),
            SCHEMAS[name],
            (*PARTITION_COLUMNS, *ORDER[name]),
        )
        store.write(name, FINAL, rows, since=files[0].first)
