"""Rows of an audit that a comparison needs: of the clients, without documents."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from oracle.report.load import read_columns
from oracle.report.row_keys import keys_of
from oracle.report.unit_times import with_times
from oracle.summary import FIGURE_COLUMNS, client_units
from pipeline.evaluation import ACTUAL

Int64 = npt.NDArray[np.int64]

UNKNOWN_MS: Final = np.iinfo(np.int64).min
"""Stands for a time, or a number, that is not known."""
HARM_COLUMNS: Final = (
    "unread_partition_ms",
    "shared_partition_ms",
    "waiting_partition_ms",
    "imbalance_partition_ms",
)
_MORE: Final = {
    "answers": HARM_COLUMNS[2:],
    "rebalances": ("at", "until", "ended", "source_offset", "client_assignor"),
    "episodes": ("ended_at",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRows:
    """Rows of the clients, each with its times in milliseconds.

    Attributes
    ----------
    folder : Path
        Of the tables.
    rebalances, actual, units : pyarrow.Table
        The table; rows of ``answers`` of the clients; rows of `client_units`.
    begins, ends : int64, one per row of ``rebalances``
        ``at`` and ``until``, or `UNKNOWN_MS`.
    places : int64, one per row of ``actual``
        Row of its rebalance in ``rebalances``.
    unit_times : int64, one per row of ``units``
        Time of each, or `UNKNOWN_MS`.
    """

    folder: Path
    rebalances: pa.Table
    actual: pa.Table
    units: pa.Table
    begins: Int64
    ends: Int64
    places: Int64
    unit_times: Int64

    def of_actual(self, times: Int64) -> Int64:
        """Return a column of the rebalances for the rows of ``actual``."""
        return times[self.places]


def compared_rows(folder: Path) -> ComparedRows:
    """Read the rows of a folder of tables.

    Raises
    ------
    SourceError
        If the folder holds no audit, or its tables cannot be read.
    """
    found = {
        name: read_columns(
            folder,
            name,
            [*dict.fromkeys((*FIGURE_COLUMNS[name], *more))],
            ds.field("assignor") == ACTUAL if name == "answers" else None,
        )
        for name, more in _MORE.items()
    }
    actual, rebalances = found["answers"], found["rebalances"]
    nothing = pa.repeat(pa.scalar(0, pa.int64()), len(actual))
    units = client_units(
        actual.append_column("broken", nothing), rebalances, found["episodes"]
    )
    timed = with_times(units, rebalances, found["episodes"])
    places = pc.index_in(
        keys_of(actual["cluster"], actual["rebalance_id"]),
        keys_of(rebalances["cluster"], rebalances["rebalance_id"]),
    )
    return ComparedRows(
        folder=folder,
        rebalances=rebalances,
        actual=actual,
        units=timed,
        begins=in_ms(rebalances["at"]),
        ends=in_ms(rebalances["until"]),
        places=np.asarray(places).astype(np.int64),
        unit_times=in_ms(timed["at"]),
    )


def in_ms(times: pa.ChunkedArray) -> Int64:
    """Return times in milliseconds since 1970, `UNKNOWN_MS` for null."""
    ms = pc.divide(times.cast(pa.timestamp("us", tz="UTC")).cast(pa.int64()), 1000)
    return numbers(ms)


def numbers(column: pa.ChunkedArray) -> Int64:
    """Return a column of integers, `UNKNOWN_MS` for null."""
    found = pc.fill_null(column.cast(pa.int64()), UNKNOWN_MS)
    return np.asarray(found.combine_chunks(), np.int64)
