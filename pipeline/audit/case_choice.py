"""The cases that an audit judges: those of a window of time, and of some groups.

All records are read and reconstructed, because a rebalance has premises in earlier
records, and partition counts in those of other groups. Then, the other cases are
dropped, before anything is judged.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.rows import (
    CASE,
    CASES,
    CONTEXT_CASE,
    CONTEXT_CASES,
    Row,
    cases_row,
    left_out_row,
    matched_row,
)
from pipeline.table_bytes import from_bytes
from pipeline.time_window import ALL_TIMES, TimeWindow
from rebalance import Bools, SourceError

OTHER_GROUP: Final = "other-group"
NO_TIME: Final = "no-time"
OTHER_TIME: Final = "other-time"
LEFT_OUT_BECAUSE: Final = (OTHER_GROUP, NO_TIME, OTHER_TIME)
"""Why a case is not judged: the first reason that applies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseChoice:
    """The cases to be judged.

    Attributes
    ----------
    window : TimeWindow
        Times of the cases.
    groups : tuple of str
        Names of groups, in which ``*`` stands for any characters; empty: all groups.

    Raises
    ------
    SourceError
        If a name is empty.
    """

    window: TimeWindow = ALL_TIMES
    groups: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if "" in self.groups:
            raise SourceError("an empty name of a group", source="groups")

    @property
    def is_all(self) -> bool:
        """Whether every case is judged."""
        return not (self.groups or self.window.is_bounded)

    def chosen(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Pass rows on, but for the other cases; their numbers come last.

        Of the groups, rebalances at other times are passed on as context. The last rows
        also state which of the names occur, at any time.
        """
        if self.is_all:
            yield from rows
            return
        counts = _Counts(self)
        for row in rows:
            if row["what"] == CASE:
                if counts.has(row["group_id"], row["at"]):
                    yield row
                elif counts.has_group(row["group_id"]) and _is_of_records(row):
                    yield row | {"what": CONTEXT_CASE}
            elif row["what"] == CASES:
                table = from_bytes(row["value"])
                of_groups, are_chosen = counts.of_table(table)
                for what, are_kept in (
                    (CASES, are_chosen),
                    (CONTEXT_CASES, of_groups & ~are_chosen),
                ):
                    if are_kept.any():
                        yield cases_row(table.filter(pa.array(are_kept)), what)
            else:
                yield row
        yield from (left_out_row(why, n) for why, n in counts.left_out.items() if n)
        yield from map(matched_row, sorted(counts.matched))


@dataclass(slots=True)
class _Counts:
    """Cases of one task that are left out, and the names of groups that occur."""

    choice: CaseChoice
    left_out: Counter[str] = field(default_factory=Counter)
    matched: set[str] = field(default_factory=set)
    _known: dict[str, bool] = field(default_factory=dict)

    def has(self, group: str, at: int | None) -> bool:
        """Return whether a case is chosen; count it if not."""
        if not self.has_group(group):
            self.left_out[OTHER_GROUP] += 1
        elif self.choice.window.has_ms(at):
            return True
        else:
            self.left_out[NO_TIME if at is None else OTHER_TIME] += 1
        return False

    def of_table(self, cases: pa.Table) -> tuple[Bools, Bools]:
        """Return which cases of a table are of the groups, and which are chosen."""
        found = np.ones(len(cases), np.bool_)
        if self.choice.groups:
            column = cases["group_id"]
            names = [*filter(self.has_group, pc.unique(column).to_pylist())]
            found = np.asarray(pc.is_in(column, pa.array(names, pa.string())))
            self.left_out[OTHER_GROUP] += int((~found).sum())
        are_in = self.choice.window.of_column(cases["at"])
        are_dated = np.asarray(pc.is_valid(cases["at"]))
        left = found & ~are_in
        self.left_out[NO_TIME] += int((left & ~are_dated).sum())
        self.left_out[OTHER_TIME] += int((left & are_dated).sum())
        return found, found & are_in

    def has_group(self, group: str) -> bool:
        """Return whether a group is chosen."""
        names = self.choice.groups
        if group not in self._known:
            found = {name for name in names if _matches(name, group)}
            self.matched |= found
            self._known[group] = bool(found) or not names
        return self._known[group]


def _is_of_records(row: Row) -> bool:
    """Return whether a case is a rebalance of records."""
    return row["source_partition"] is not None


def _matches(name: str, group: str) -> bool:
    pattern = ".*".join(map(re.escape, name.split("*")))
    return re.fullmatch(pattern, group, re.DOTALL) is not None
