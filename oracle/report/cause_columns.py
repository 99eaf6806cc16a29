"""Causes and groups of rebalances as arrays."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.causes import KINDS
from rebalance import Bools, Int64


def groups_of_rows(rebalances: pa.Table) -> tuple[list[tuple[str, str]], Int64]:
    """Return the clusters and names of groups, and the group of each row."""
    columns = []
    for name in ("cluster", "group_id"):
        texts = pc.cast(rebalances[name].combine_chunks(), pa.string())
        encoded = texts.dictionary_encode()
        columns.append((encoded.dictionary.to_pylist(), np.asarray(encoded.indices)))
    (clusters, cluster), (names, group) = columns
    pairs, places = np.unique(
        cluster.astype(np.int64) * len(names) + group, return_inverse=True
    )
    keys = [
        (clusters[pair // len(names)], names[pair % len(names)])
        for pair in pairs.tolist()
    ]
    return keys, places


def counts_of_rows(causes: pa.ChunkedArray) -> dict[str, Int64]:
    """Return the count of each kind of cause per row; 0 if it is not listed."""
    lists = causes.combine_chunks()
    sizes = np.asarray(pc.fill_null(pc.list_value_length(lists), 0))
    row = np.repeat(np.arange(len(lists)), sizes)
    entries = lists.flatten()
    count = np.asarray(entries.field("count"))
    listed = pc.index_in(entries.field("kind"), pa.array(KINDS))
    number = np.asarray(pc.fill_null(listed, len(KINDS)))
    found: dict[str, Int64] = {}
    for place, kind in enumerate(KINDS):
        found[kind] = np.zeros(len(lists), np.int64)
        found[kind][row[number == place]] = count[number == place]
    return found


def kinds_of_rows(causes: pa.ChunkedArray) -> dict[str, Bools]:
    """Return per kind of cause which rows list it."""
    return {kind: counts > 0 for kind, counts in counts_of_rows(causes).items()}
