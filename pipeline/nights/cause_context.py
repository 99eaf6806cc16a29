"""Rebalances before those of a night, with which the causes of these are compared.

A cause is a difference from the rebalance before, and a member can have left up to
`RETURN_MS` before it returns: the causes of the rebalances of this time can change, and
their rows with them, although the cases of all but the last episode are final. These
rebalances, two before them of each group, and those of two minutes before them, are
kept with the columns that causes are computed from.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Final, NamedTuple, TypeAlias

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
_RETURN: Final = RETURN_MS * 1_000
"""Microseconds; a return is matched with a leave that can itself follow a return."""


class Unsettled(NamedTuple):
    """Names of final rebalances that the causes of later ones can depend on.

    ``waiting`` are those whose own causes can change.
    """

    before: list[str]
    waiting: list[str]


@dataclass(frozen=True, slots=True)
class CauseContext:
    """Rows of rebalances that are not reconstructed again, in columns of `COLUMNS`."""

    tables: dict[str, pa.Table]

    @property
    def names(self) -> pa.Array:
        """The names of the rebalances."""
        return self.tables["rebalances"]["rebalance_id"].combine_chunks()

    def with_runs(self, runs: RunsOf) -> RunsOf:
        """Return a reader of these rows, then of others."""

        def read(name: str, columns: Sequence[str]) -> Iterator[pa.Table]:
            yield self.tables[name].select(list(columns))
            yield from runs(name, columns)

        return read

    def unsettled(self, runs: RunsOf, opened: Iterable[str]) -> Unsettled:
        """Tell which rebalances can have other causes in a later night.

        Parameters
        ----------
        runs
            Reads the rows of this night.
        opened
            Names of the rebalances that the next night finds again.
        """
        known = frozenset(opened)
        before, waiting = list[str](), list[str]()
        for rows in self._groups(runs):
            latest = max((at for _, at, _ in rows if at is not None), default=0)
            end = len(rows)
            for place, (_, at, name) in enumerate(rows):
                if name in known or (at is not None and at >= latest - _RETURN):
                    end = place
                    break
            waiting += [name for *_, name in rows[end:] if name not in known]
            first = rows[min(end, len(rows) - 1)][1]
            before += [
                name
                for place, (_, at, name) in enumerate(rows[:end])
                if place >= end - _AT_LEAST
                or (at is not None and first is not None and at >= first - 2 * _RETURN)
            ]
        return Unsettled(before, waiting)

    def after(self, runs: RunsOf, unsettled: Unsettled) -> CauseContext:
        """Return the context of the next night; ``runs`` reads rows of this night."""
        kept = pa.array([*unsettled.before, *unsettled.waiting], pa.string())
        read = self.with_runs(runs)
        found = {}
        for name, columns in COLUMNS.items():
            parts = [
                run.select(columns).filter(pc.is_in(run["rebalance_id"], kept))
                for run in read(name, columns)
            ]
            found[name] = pa.concat_tables(parts).combine_chunks()
        return CauseContext(found)

    def _groups(self, runs: RunsOf) -> Iterator[list[tuple[int, int | None, str]]]:
        """Yield the offset, time, and name of the rebalances of each group."""
        names = ("group_id", "source_partition", "source_offset", "at", "rebalance_id")
        groups: dict[GroupKey, list[tuple[int, int | None, str]]] = defaultdict(list)
        for run in self.with_runs(runs)("rebalances", names):
            columns = [run[name] for name in names]
            columns[3] = columns[3].cast(pa.int64())
            for group, partition, offset, at, rebalance_id in zip(
                *(column.to_pylist() for column in columns), strict=True
            ):
                groups[group, partition].append((offset or 0, at, rebalance_id))
        for rows in groups.values():
            yield sorted(rows, key=itemgetter(0))


def no_context() -> CauseContext:
    """Return the context of the first night."""
    return CauseContext(
        {
            name: pa.schema([SCHEMAS[name].field(c) for c in columns]).empty_table()
            for name, columns in COLUMNS.items()
        }
    )
