"""Names of the files of a store: of which night they are, and which of them count.

    store.json                                      the state; see `store_state`
    carry/night-00003/records.parquet               records that the next night needs
    carry/night-00003/topics.parquet                topics that they have shown
    carry/night-00003/rebalances.parquet, members.parquet     of the last rebalances
    tables/TABLE/cluster=…/date=…/night-00003-00000.parquet   rows that are final
    tables/TABLE/cluster=…/date=…/open-00003-00000.parquet    rows that can change

``store.json`` has the number of the last complete night, and is replaced last. Final
rows of all nights up to it count, and open rows and the carry of that night alone.
Other files are left by a process that was killed, or replaced, and are deleted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, timedelta
from typing import Final, NamedTuple

TABLES_FOLDER: Final = "tables"
CARRY_FOLDER: Final = "carry"
FINAL: Final = "night"
OPEN: Final = "open"

_FILE: Final = re.compile(rf"({FINAL}|{OPEN})-(\d{{5}})-(\d{{5}})\.parquet")
_DAY: Final = re.compile(r"date=(\d{4}-\d\d-\d\d)")


class TableFile(NamedTuple):
    """A file of a table: its path below the tables, and the parts of its name."""

    table: str
    folder: str  # cluster=…/date=…
    name: str
    kind: str
    night: int

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


def table_file(below: tuple[str, ...]) -> TableFile | None:
    """Read a path below the folder of tables; None if it is not a file of a store."""
    found = _FILE.fullmatch(below[-1])
    if found is None or len(below) < 3:  # table, folders, file
        return None
    table, *folders, name = below
    return TableFile(table, "/".join(folders), name, found[1], int(found[2]))


def day_of(folder: str) -> date | None:
    """Return the day in the path of a folder."""
    found = _DAY.search(folder)
    return None if found is None else date.fromisoformat(found[1])


def file_name(kind: str, night: int, number: int) -> str:
    """Return the name of a file of a table."""
    return f"{kind}-{night:05d}-{number:05d}.parquet"


def carry_name(night: int) -> str:
    """Return the name of the folder with the records that a night has left."""
    return f"{FINAL}-{night:05d}"


def counts(file: TableFile, night: int, first: date | None) -> bool:
    """Return whether a file counts after a night; days before ``first`` do not."""
    day = file.day
    if first is not None and day is not None and day < first:
        return False
    return file.night == night if file.kind == OPEN else file.night <= night


def first_day(files: Iterable[TableFile], keep_days: int | None) -> date | None:
    """Return the first day that is kept: so many before the newest; None: all."""
    days = [day for file in files if (day := file.day) is not None]
    if keep_days is None or not days:
        return None
    return max(days) - timedelta(days=keep_days)
