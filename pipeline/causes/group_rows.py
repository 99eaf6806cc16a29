"""Rebalances as arrays, in the order of their groups' histories."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.causes.coded_rows import Coding
from rebalance import ABSENT, Bools, Int64

NO_TIME: Final = np.iinfo(np.int64).min
_RECORDS: Final = "consumer-offsets"
_CONSUMER: Final = "consumer"
_COUNTS: Final = (
    *("generation", "round", "members", "topics", "partitions"),
    *("joined", "left", "resubscribed"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRows:
    """N rebalances of records, all of a group together, in order; `ABSENT`: not known.

    Attributes
    ----------
    number : int64 (N,)
        Of the rebalance, in the coding.
    group, assignor, leader : int64 (N,)
        Numbers of names.
    at, empty_at : int64 (N,)
        Milliseconds; `NO_TIME` if not known. When the group was empty next, and
        otherwise the time of the rebalance.
    is_consumer, is_cooperative : bool (N,)
        Whether the group uses the new protocol, and whether partitions can be withheld.
    generation, round, members, topics, partitions : int64 (N,)
    joined, left, resubscribed : int64 (N,)
        Columns of ``rebalances``.
    """

    number: Int64
    group: Int64
    assignor: Int64
    leader: Int64
    at: Int64
    empty_at: Int64
    is_consumer: Bools
    is_cooperative: Bools
    generation: Int64
    round: Int64
    members: Int64
    topics: Int64
    partitions: Int64
    joined: Int64
    left: Int64
    resubscribed: Int64

    def __len__(self) -> int:
        return len(self.number)

    def part(self, begin: int, end: int) -> GroupRows:
        """Return the rows from ``begin`` to ``end``."""
        columns = {name: getattr(self, name)[begin:end] for name in self.__slots__}
        return GroupRows(**columns)

    def parts(self, most: int) -> Iterator[tuple[int, int]]:
        """Yield ranges of whole groups with about so many members, or one group."""
        ends = np.flatnonzero(np.diff(self.group, append=ABSENT)) + 1
        members = np.concatenate(([0], np.cumsum(self.members)))
        bounds = [0]
        for end in ends.tolist():
            if end == len(self) or members[end] - members[bounds[-1]] >= most:
                bounds.append(end)
        yield from pairwise(bounds)


def group_rows(runs: Iterable[pa.Table], coding: Coding) -> GroupRows:
    """Sort rebalances by group and place; those of documents are left out.

    Parameters
    ----------
    runs
        Rows of ``rebalances`` in any order, columns `OF_REBALANCE`.
    """
    coded = [_coded(run, coding) for run in runs]

    def taken(name: str) -> Any:
        """Remove a column from the runs, and return it."""
        parts = [run.pop(name) for run in coded]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)

    group = taken("group")
    order = np.lexsort((taken("offset"), taken("partition"), group))
    columns: dict[str, Any] = {"group": group[order]}
    for name in GroupRows.__slots__:
        if name != "group":
            columns[name] = taken(name)[order]
    return GroupRows(**columns)


def _coded(run: pa.Table, coding: Coding) -> dict[str, Int64]:
    run = run.filter(pc.equal(run["source_kind"], _RECORDS))
    at = _milliseconds(run["at"])
    is_empty = np.asarray(pc.fill_null(pc.equal(run["ended"], "empty"), False))
    return {
        "number": coding.rebalances.numbers(run["rebalance_id"]),
        "group": coding.groups.numbers(run["group_id"]),
        "assignor": coding.assignors.numbers(run["client_assignor"]),
        "leader": coding.members.numbers(run["leader"]),
        "at": at,
        "empty_at": np.where(is_empty, _milliseconds(run["until"]), at),
        "is_consumer": np.asarray(
            pc.fill_null(pc.equal(run["protocol"], _CONSUMER), False)
        ),
        "is_cooperative": np.asarray(pc.fill_null(run["cooperative"], False)),
        "partition": _numbers(run["source_partition"]),
        "offset": _numbers(run["source_offset"]),
        **{name: _numbers(run[name]) for name in _COUNTS},
    }


def _milliseconds(times: pa.ChunkedArray) -> Int64:
    values = pc.cast(pc.cast(times, pa.timestamp("ms", tz="UTC")), pa.int64())
    return np.asarray(pc.fill_null(values, NO_TIME))


def _numbers(values: pa.ChunkedArray) -> Int64:
    return np.asarray(pc.fill_null(values, ABSENT)).astype(np.int64)
