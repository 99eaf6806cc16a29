"""Names of the files of a store: of which night they are, and which of them count.

    store.json                                      the state; see `store_state`
    carry/night-00003/records.parquet               records that the next night needs
    carry/night-00003/topics.parquet                topics that they have shown
    carry/night-00003/rebalances.parquet, members.parquet     of the last rebalances
    tables/TABLE/cluster=…/date=…/night-00003-00000.parquet   rows that are final
    tables/TABLE/cluster=…/date=…/open-00003-00000.parquet    rows that can change
    tables/TABLE/cluster=…/date=…/nights-00001-00003-00000.parquet
                                  all final rows of these nights, of this table and day

``store.json`` has the number of the last complete night, and is replaced last. Final
rows of all nights up to it count, and open rows and the carry of that night alone. A
merged file is written by its last night, and with that night it counts in place of the
files whose nights it covers. Other files are left by a process that was killed, or
replaced, and are deleted.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from itertools import groupby
from operator import attrgetter
from typing import Final, NamedTuple

TABLES_FOLDER: Final = "tables"
CARRY_FOLDER: Final = "carry"
FINAL: Final = "night"
OPEN: Final = "open"
MERGED: Final = "nights"

MOST_NIGHTS: Final = 8
"""Nights, or merged ones, with files of the same table and day."""
_GROWTH: Final = 2
"""Files before merged ones are at least so many times as long: a row is merged again
once per so many rows that follow it."""

_NUMBER: Final = r"(\d{5,})"
_FILE: Final = re.compile(
    rf"(?:({FINAL}|{OPEN})|{MERGED}-{_NUMBER})-{_NUMBER}-\d{{5}}\.parquet"
)
_DAY: Final = re.compile(r"date=(\d{4}-\d\d-\d\d)")


class TableFile(NamedTuple):
    """A file of a table: its path below the tables, parts of its name, and its bytes.

    A merged one has the rows of the nights ``first`` to ``night``; otherwise, these are
    equal.
    """

    table: str
    folder: str  # cluster=…/date=…
    name: str
    kind: str
    night: int
    first: int
    length: int

    @property
    def place(self) -> tuple[str, str]:
        """Table and folder."""
        return self.table, self.folder

    @property
    def path(self) -> str:
        """Path below the folder of tables."""
        return f"{self.table}/{self.folder}/{self.name}"

    @property
    def day_text(self) -> str:
        """The day in the path, which can be a word."""
        return self.folder.rpartition("date=")[2]

    @property
    def day(self) -> date | None:
        """The day of its rows; None if they have no time."""
        return day_of(self.folder)


def table_file(below: Sequence[str], length: int) -> TableFile | None:
    """Read a path below the folder of tables; None if it is not a file of a store."""
    found = _FILE.fullmatch(below[-1])
    if found is None or len(below) < 3:  # table, folders, file
        return None
    table, *folders, name = below
    night = int(found[3])
    first = night if found[2] is None else int(found[2])
    kind = found[1] or FINAL
    return TableFile(table, "/".join(folders), name, kind, night, first, length)


def day_of(folder: str) -> date | None:
    """Return the day in the path of a folder."""
    found = _DAY.search(folder)
    return None if found is None else date.fromisoformat(found[1])


def file_name(kind: str, night: int, number: int, first: int | None = None) -> str:
    """Return the name of a file of a table; ``first`` is the first night of several."""
    if first is not None:
        kind = f"{MERGED}-{first:05d}"
    return f"{kind}-{night:05d}-{number:05d}.parquet"


def carry_name(night: int) -> str:
    """Return the name of the folder with the records that a night has left."""
    return f"{FINAL}-{night:05d}"


def counted(
    files: Iterable[TableFile], night: int, first: date | None
) -> list[TableFile]:
    """Return the files that count after a night; days before ``first`` do not."""
    written = [file for file in files if _is_of(file, night, first)]
    merged = defaultdict(set)
    for file in written:
        if file.first < file.night:
            merged[file.place].add((file.first, file.night))
    return [
        file
        for file in written
        if file.kind == OPEN or not _is_covered(file, merged[file.place])
    ]


def nights_to_merge(files: Iterable[TableFile]) -> list[TableFile]:
    """Return the files to merge of the final ones of one table and day, by night.

    They are the last ones: if there are too many, as many as needed for the ones before
    to be much longer (size-tiered merging, as in O'Neil et al., Acta Informatica 33,
    1996). There are none if there are few.
    """
    nights = [
        [*same]
        for _, same in groupby(
            sorted(files, key=attrgetter("night", "name")), attrgetter("night")
        )
    ]
    if len(nights) <= MOST_NIGHTS:
        return []
    lengths = [sum(file.length for file in same) for same in nights]
    begin = len(nights) - 2
    while begin and lengths[begin - 1] < _GROWTH * sum(lengths[begin:]):
        begin -= 1
    return [file for same in nights[begin:] for file in same]


def first_day(files: Iterable[TableFile], keep_days: int | None) -> date | None:
    """Return the first day that is kept: so many before the newest; None: all."""
    days = [day for file in files if (day := file.day) is not None]
    if keep_days is None or not days:
        return None
    return max(days) - timedelta(days=keep_days)


def _is_of(file: TableFile, night: int, first: date | None) -> bool:
    """Return whether a file is of a night, by its name and day alone."""
    day = file.day
    if first is not None and day is not None and day < first:
        return False
    return file.night == night if file.kind == OPEN else file.night <= night


def _is_covered(file: TableFile, merged: Iterable[tuple[int, int]]) -> bool:
    """Return whether the rows of a file are in a merged one of more nights."""
    return any(
        first <= file.first and file.night <= last
        for first, last in merged
        if (first, last) != (file.first, file.night)
    )
