"""Rebalances before those of a night, with which the causes of these are compared.

A cause is a difference from the rebalance before, and a member can have left up to
`RETURN_MS` before it returns. The last two final rebalances of each group, and those of
the last two minutes, are kept with the columns that causes are computed from.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.causes import OF_MEMBER, OF_REBALANCE, OF_TOPICS, RETURN_MS
from pipeline.nights.needed_records import GroupKey
from pipeline.tables import SCHEMAS

RunsOf: TypeAlias = Callable[[str, Sequence[str]], Iterable[pa.Table]]
"""Reads columns of a table, such as `pipeline.audit.judged.JudgedRuns.of`."""

COLUMNS: Final[dict[str, tuple[str, ...]]] = {
    "rebalances": OF_REBALANCE,
    "members": (*OF_MEMBER, *OF_TOPICS[1:]),
}
_AT_LEAST: Final = 2
_US: Final = 2 * RETURN_MS * 1_000
"""Microseconds; a return is matched with a leave that can itself follow a return."""


@dataclass(frozen=True, slots=True)
class CauseContext:
    """Rows of final rebalances, by table, in the columns of `COLUMNS`."""

    tables: dict[str, pa.Table]

    def with_runs(self, runs: RunsOf) -> RunsOf:
        """Return a reader of these rows, then of others."""

        def read(name: str, columns: Sequence[str]) -> Iterator[pa.Table]:
            yield self.tables[name].select(list(columns))
            yield from runs(name, columns)

        return read

    def after(self, runs: RunsOf, opened: Iterable[str]) -> CauseContext:
        """Return the context of the next night.

        Parameters
        ----------
        runs
            Reads the rows of this night.
        opened
            Names of the rebalances that the next night finds again.
        """
        kept = pa.array(self._kept(runs, frozenset(opened)), pa.string())
        read = self.with_runs(runs)
        found = {}
        for name, columns in COLUMNS.items():
            parts = [
                run.select(columns).filter(pc.is_in(run["rebalance_id"], kept))
                for run in read(name, columns)
            ]
            found[name] = pa.concat_tables(parts).combine_chunks()
        return CauseContext(found)

    def _kept(self, runs: RunsOf, opened: frozenset[str]) -> list[str]:
        """Return the names of the last final rebalances of each group."""
        names = ("group_id", "source_partition", "source_offset", "at", "rebalance_id")
        groups: dict[GroupKey, list[tuple[int, int | None, str]]] = defaultdict(list)
        for run in self.with_runs(runs)("rebalances", names):
            columns = [run[name] for name in names]
            columns[3] = columns[3].cast(pa.int64())
            for group, partition, offset, at, rebalance_id in zip(
                *(column.to_pylist() for column in columns), strict=True
            ):
                groups[group, partition].append((offset or 0, at, rebalance_id))
        found: list[str] = []
        for rows in groups.values():
            rows.sort(key=lambda row: row[0])
            first = next((n for n, row in enumerate(rows) if row[2] in opened), None)
            end = len(rows) if first is None else first
            latest = rows[min(end, len(rows) - 1)][1]
            found += [
                name
                for place, (_, at, name) in enumerate(rows[:end])
                if place >= end - _AT_LEAST
                or (at is not None and latest is not None and at >= latest - _US)
            ]
        return found


def no_context() -> CauseContext:
    """Return the context of the first night."""
    return CauseContext(
        {
            name: pa.schema([SCHEMAS[name].field(c) for c in columns]).empty_table()
            for name, columns in COLUMNS.items()
        }
    )
