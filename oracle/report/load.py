"""Load an audit's tables: all columns except documents, which are read on demand.

Instances and assignments are most of the bytes; only those of the rebalances that the
page shows are read. Of ``answers``, which has a row per rebalance and assignor, only
the rows of the clients are kept; the others are counted while they are read.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from operator import and_
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from oracle.summary import (
    ANSWER_COLUMNS,
    FIGURE_COLUMNS,
    GAIN_COLUMNS,
    AssignorCounts,
    equals,
    merge_assignor_counts,
    merge_group_gains,
    partial_assignor_counts,
    partial_group_gains,
    plain,
)
from pipeline.evaluation import ACTUAL
from pipeline.tables import PARTITION_COLUMNS, SCHEMAS
from rebalance import SourceError

_THREADS: Final = max(2, os.cpu_count() or 1)
_REBALANCES: Final = (
    "cluster",
    "rebalance_id",
    "group_id",
    "at",
    "until",
    "ended",
    "generation",
    "source",
    "protocol",
    "client_assignor",
    "episode_id",
    "members",
    "partitions",
    "partition_counts",
    "owned_from",
    "subscriptions",
    "lag_basis",
    "lag_missing",
)
_CLIENTS: Final = (
    *FIGURE_COLUMNS["answers"],
    *("violations", "withheld", "peak_lag", "peak_lag_bound"),
    *("waiting_partition_ms", "imbalance_partition_ms"),
)
_DOCUMENTS: Final = frozenset(
    {"instance", "assignment", "violations", "loads", "evidence", "key", "value"}
)
_REPEATED: Final = frozenset(
    {
        "assignor",
        "client_assignor",
        "lag_basis",
        "owned_from",
        "partition_counts",
        "protocol",
        "source",
        "status",
        "subscriptions",
        "verdict",
    }
)
"""Columns with few values, read as dictionaries."""
_NAMES: Final = frozenset({"group_id", "rebalance_id"})
"""Columns that repeat in consecutive answers."""
_FEW_GROUPS: Final = 100
"""Groups of which a filter skips most parts of a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """The columns of the tables that the page needs; rows as in `pipeline.tables`.

    ``actual`` are the answers of the clients, with two more columns: ``broken``, the
    number of violations, and ``unread``, the partitions that have no member although
    one subscribes. ``answers`` are counts of all answers, ``gains`` those of
    `oracle.summary.partial_group_gains`.
    """

    folder: Path
    rebalances: pa.Table
    actual: pa.Table
    answers: AssignorCounts
    gains: pa.Table
    episodes: pa.Table
    snapshots: pa.Table
    quarantine: pa.Table


def load(folder: Path, group: str | None = None) -> Tables:
    """Read the columns of an audit, or of one of its groups, without documents.

    Raises
    ------
    SourceError
        If the folder holds no audit, or its tables cannot be read.
    """
    columns = {"rebalances": list(_REBALANCES)}
    columns |= {name: _light(name) for name in ("episodes", "snapshots", "quarantine")}
    chosen = None if group is None else ds.field("group_id") == group
    with ThreadPoolExecutor(_THREADS) as pool:
        tables = {
            name: pool.submit(read_columns, folder, name, wanted, chosen)
            for name, wanted in columns.items()
        }
        answered = _answers(folder, pool, chosen)
        return Tables(
            folder=folder,
            actual=answered.actual,
            answers=answered.counts,
            gains=answered.gains,
            **{name: table.result() for name, table in tables.items()},
        )


def load_documents(
    folder: Path,
    table: str,
    key: str,
    wanted: Sequence[tuple[str, str, str]],
    columns: Sequence[str],
    among: ds.Expression | None = None,
) -> list[dict[str, Any]]:
    """Read ``columns`` of some rows, including documents.

    Parameters
    ----------
    wanted
        Day, group, and value of ``key`` of each row; tables are sorted by group, so
        that other parts of their files are skipped.
    among
        Reads only such rows.

    Raises
    ------
    SourceError
        As `load`.
    """
    if not wanted:
        return []
    names = ("date", "group_id", key)
    places = [
        ds.field(name).isin(sorted(set(values)))
        for name, values in zip(names, zip(*wanted, strict=True), strict=True)
    ]
    places += [] if among is None else [among]
    # One test of many values is much quicker than many tests; it selects a few more.
    requested, found = set(wanted), [*dict.fromkeys((*names, *columns))]
    rows = read_columns(folder, table, found, reduce(and_, places)).to_pylist()
    return [row for row in rows if tuple(row[name] for name in names) in requested]


def load_of_rebalances(
    folder: Path,
    table: str,
    ids: Collection[str],
    groups: Collection[str],
    columns: Sequence[str],
) -> pa.Table:
    """Read the rows of some rebalances, of which these are the ids and the groups.

    Rows repeat the id of their rebalance, and are chosen by its code: that is quicker
    than a comparison of texts.

    Raises
    ------
    SourceError
        As `load`.
    """
    wanted, few = pa.array(sorted(ids), pa.string()), None
    if len(groups) <= _FEW_GROUPS:
        few = ds.field("group_id").isin(pa.array(sorted(groups), pa.string()))
    kept = []
    with _dataset(folder, table, _NAMES) as dataset:
        for batch in dataset.to_batches(columns=list(columns), filter=few):
            names = batch["rebalance_id"]
            is_wanted = pc.is_in(names.dictionary, wanted).take(names.indices)
            kept.append(_plain_rows(batch.filter(is_wanted)))
        empty = _plain_rows(dataset.schema.empty_table().select(list(columns)))
    return pa.concat_tables([empty, *kept])


def _plain_rows(rows: pa.Table | pa.RecordBatch) -> pa.Table:
    return pa.table({name: plain(rows[name]) for name in rows.schema.names})


@contextmanager
def system_allocator() -> Iterator[None]:
    """Allocate Arrow's memory by the C library, which reuses it for the next batch.

    Arrow's own allocator returns the columns of a batch to the system, which took a
    third of the processor time of a large page.
    """
    pool = pa.default_memory_pool()
    pa.set_memory_pool(pa.system_memory_pool())
    try:
        yield
    finally:
        pa.set_memory_pool(pool)


def _light(table: str) -> list[str]:
    return [name for name in SCHEMAS[table].names if name not in _DOCUMENTS]


class _AnswerCounts(NamedTuple):
    """Counts of the answers, or of one batch of them."""

    counts: AssignorCounts
    gains: pa.Table
    actual: pa.Table


def _answers(
    folder: Path, pool: ThreadPoolExecutor, chosen: ds.Expression | None
) -> _AnswerCounts:
    """Count the answers, and keep those of the clients, batch by batch."""
    columns = list(dict.fromkeys((*ANSWER_COLUMNS, *GAIN_COLUMNS, *_CLIENTS)))
    counted: list[Future[_AnswerCounts]] = []
    with _dataset(folder, "answers", {*_REPEATED, *_NAMES}) as dataset:
        # One thread reads while others count: Arrow's own would read far ahead.
        for batch in dataset.to_batches(
            columns=columns, filter=chosen, use_threads=False
        ):
            if len(counted) >= _THREADS:  # batches that wait take memory
                counted[-_THREADS].result()
            counted.append(pool.submit(_counted, batch))
        parts = [future.result() for future in counted]
    nothing = _counted(_NO_ANSWER)
    return _AnswerCounts(
        counts=merge_assignor_counts(part.counts for part in parts),
        gains=merge_group_gains(part.gains for part in (nothing, *parts)),
        actual=pa.concat_tables(part.actual for part in (nothing, *parts)),
    )


def _counted(answers: pa.RecordBatch) -> _AnswerCounts:
    return _AnswerCounts(
        counts=partial_assignor_counts(answers),
        gains=partial_group_gains(answers),
        actual=_clients(answers),
    )


def _clients(answers: pa.RecordBatch) -> pa.Table:
    """Return the clients' answers, with the length of the list of violations."""
    places = pc.indices_nonzero(equals(answers["assignor"], ACTUAL))
    columns = {name: plain(answers[name].take(places)) for name in _CLIENTS}
    violations = columns.pop("violations")
    broken = pc.fill_null(pc.list_value_length(violations), 0)
    columns |= {"broken": broken.cast(pa.int64()), "unread": _unread(violations)}
    return pa.table(columns)


def _unread(violations: pa.ListArray) -> pa.Array:
    """Return how many partitions each answer leaves to no member."""
    rules = pc.struct_field(pc.list_flatten(violations), "rule")
    places = pc.list_parent_indices(violations).filter(equals(rules, "unassigned"))
    counts = np.bincount(places.to_numpy(), minlength=len(violations))
    return pa.array(counts, pa.int64())


def read_columns(
    folder: Path,
    table: str,
    columns: Sequence[str],
    chosen: ds.Expression | None = None,
) -> pa.Table:
    """Read columns of a table, of the rows that are chosen.

    Raises
    ------
    SourceError
        As `load`.
    """
    with _dataset(folder, table) as dataset:
        found = dataset.to_table(columns=list(columns), filter=chosen)
        return found.unify_dictionaries()


@contextmanager
def _dataset(
    folder: Path, table: str, encoded: Collection[str] = _REPEATED
) -> Iterator[ds.Dataset]:
    """Open a table of an audit; errors while it is read are errors of the source.

    Columns in ``encoded`` are read as dictionaries.
    """
    place = folder / table
    if not place.is_dir():
        raise SourceError("holds no audit: this folder is missing", source=str(place))
    schema = SCHEMAS[table]
    keys = pa.schema([schema.field(column) for column in PARTITION_COLUMNS])
    # Without this option, values are read as texts and encoded again.
    in_file = [name for name in schema.names if name in encoded]
    options = ds.ParquetReadOptions(dictionary_columns=in_file)
    try:
        yield ds.dataset(
            place,
            schema=_with_dictionaries(schema, encoded),
            format=ds.ParquetFileFormat(read_options=options),
            partitioning=ds.partitioning(keys, flavor="hive"),
        )
    except (OSError, pa.ArrowException) as error:
        reason = f"no table of an audit: {error}"
        raise SourceError(reason, source=str(place), cause=error) from None


def _with_dictionaries(schema: pa.Schema, encoded: Collection[str]) -> pa.Schema:
    repeated = pa.dictionary(pa.int32(), pa.string())
    return pa.schema(
        [
            field.with_type(repeated) if field.name in encoded else field
            for field in schema
        ]
    )


_NO_ANSWER: Final = pa.RecordBatch.from_pylist(
    [], schema=_with_dictionaries(SCHEMAS["answers"], _REPEATED | _NAMES)
)
