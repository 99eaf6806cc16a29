"""The column ``causes`` of the table ``rebalances``, from the judged runs.

Rebalances are numbered in the order of their groups' histories. The rows of members,
as integers, are sorted by these numbers in bounded memory, and compared for some groups
at a time (`pipeline.causes`). In memory are the rebalances, names, and causes of all
groups, about 1 kB per rebalance, and the members of the largest group.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from pipeline.audit.judged import JudgedRuns
from pipeline.audit.sorting import in_order_once
from pipeline.causes import (
    MEMBER_ROWS,
    OF_MEMBER,
    OF_REBALANCE,
    OF_TOPICS,
    TOPIC_ROWS,
    NumberedRebalances,
    causes_of,
)
from pipeline.nights.cause_context import RunsOf

MEMBERS_AT_ONCE: Final = 1 << 18
"""Members of the groups that are compared at once, about."""


def with_causes(rows: Iterable[pa.Table], runs: RunsOf) -> Iterator[pa.Table]:
    """Fill in the column ``causes`` of rows of ``rebalances``.

    ``runs`` reads columns of the judged runs, and of rebalances before them, if any.
    """
    numbered = NumberedRebalances(runs("rebalances", OF_REBALANCE))
    causes = [*_causes(numbered, runs)]
    for table in rows:
        place = table.schema.get_field_index("causes")
        found = numbered.of(table, causes)
        yield table.set_column(place, table.schema.field(place), found)


def _causes(numbered: NumberedRebalances, runs: RunsOf) -> Iterator[pa.ListArray]:
    """Yield the causes of the rebalances, in the order of their groups."""
    coding, row_of, by_row = numbered.coding, numbered.row_of, ["row"]
    members = in_order_once(
        (coding.member_rows(run, row_of) for run in runs("members", OF_MEMBER)),
        MEMBER_ROWS,
        by_row,
    )
    topics = in_order_once(
        (coding.topic_rows(run, row_of) for run in runs("members", OF_TOPICS)),
        TOPIC_ROWS,
        by_row,
    )
    of_members, of_topics = (
        _RowsInOrder(members, MEMBER_ROWS),
        _RowsInOrder(topics, TOPIC_ROWS),
    )
    for begin, end in numbered.groups.parts(MEMBERS_AT_ONCE):
        part = numbered.groups.part(begin, end)
        rows = of_members.until(end), of_topics.until(end)
        yield causes_of(part, *rows, coding, begin)


def runs_of(judged: JudgedRuns) -> RunsOf:
    """Return a reader of all rebalances, or their members; some are not judged."""

    def read(name: str, columns: Sequence[str]) -> Iterator[pa.Table]:
        for run in (judged.of(name, columns), judged.of(f"context_{name}", columns)):
            for table in run:
                yield table.select(columns)

    return read


class _RowsInOrder:
    """Tables that are sorted by ``row``, read in parts."""

    def __init__(self, tables: Iterator[pa.Table], schema: pa.Schema) -> None:
        self._tables = tables
        self._rest = schema.empty_table()

    def until(self, row: int) -> pa.Table:
        """Return the rows that are left before ``row``."""
        parts = list[pa.Table]()
        while True:
            place = int(np.searchsorted(np.asarray(self._rest["row"]), row))
            parts.append(self._rest.slice(0, place))
            self._rest = self._rest.slice(place)
            if self._rest.num_rows or (table := next(self._tables, None)) is None:
                return pa.concat_tables(parts).combine_chunks()
            self._rest = table
