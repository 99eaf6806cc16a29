"""How long rebalances last: until the next state of the group, or the history's end."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.cases import OPEN
from pipeline.records.place import NO_TIME
from pipeline.rows import BEGIN_OF_DATES, END_OF_DATES

_MS: Final = pa.timestamp("ms", tz="UTC")


def lasted_times(table: pa.Table, history_end: int | None) -> dict[str, pa.Array]:
    """Return the columns of ``rebalances`` on how long cases last.

    Parameters
    ----------
    table
        Cases; their own times have dates.
    history_end
        The latest time of any record, which ends open states; None: not known.
    """
    ended = table["ended"].combine_chunks()
    is_open = pc.equal(ended, OPEN)
    end = pa.scalar(history_end, pa.int64())
    until = pc.if_else(pc.fill_null(is_open, False), end, table["until"])
    until = _with_dates(until.combine_chunks())
    lasted = pc.subtract(until, table["at"])
    is_untimed = pc.and_(pc.is_valid(ended), pc.is_null(lasted))
    unknown = pc.coalesce(
        table["lasted_unknown"], pc.if_else(is_untimed, NO_TIME, None)
    )
    return {
        "until": pc.cast(until, _MS),
        "ended": ended,
        "lasted_ms": pc.if_else(pc.is_null(unknown), lasted, None),
        "lasted_unknown": unknown,
    }


def _with_dates(times: pa.Array) -> pa.Array:
    """Return times, null where no date states them."""
    at = np.asarray(pc.fill_null(times, BEGIN_OF_DATES - 1))
    has_date = (at >= BEGIN_OF_DATES) & (at < END_OF_DATES)
    return pa.array(at, mask=~has_date)
