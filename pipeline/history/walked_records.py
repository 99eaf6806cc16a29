"""Records of whole groups, and their times, for kernels."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from rebalance import Bools, Int64, argument, borrowing_kernel, kernel

GOES_ON, AT_REST, LEFT_OPEN = range(3)
"""How an episode ends with a case."""
UNKNOWN: Final = argument(-(2**63))
"""Time of a record that has none."""

IS_KNOWN, NO_TIME, WENT_BACK = range(3)
"""Whether a duration is known, or why it is not."""


class Groups(NamedTuple):
    """Records of whole groups, n of them, G groups.

    Attributes
    ----------
    begin, end : int64 (G,)
        Records of a group.
    kind, at, tape : int64
        As in `pipeline.records.record_tape.RecordTape`.
    time : int64 (n,)
        Milliseconds, or `UNKNOWN`.
    went_back : bool (n,)
        Whether a record of the group before has a later time.
    """

    begin: Int64
    end: Int64
    kind: Int64
    at: Int64
    tape: Int64
    time: Int64
    went_back: Bools


@kernel
def which_went_back(begin: Int64, end: Int64, time: Int64) -> Bools:
    """Return which records have an earlier time than one of the group before them."""
    found = np.zeros(time.size, np.bool_)
    for group in range(begin.size):
        latest = UNKNOWN
        for row in range(begin[group], end[group]):
            found[row] = UNKNOWN < time[row] < latest
            latest = max(latest, time[row])
    return found


@borrowing_kernel
def why_unknown(groups: Groups, row: int) -> int:
    """Return why the time of a record is not used for durations."""
    if groups.time[row] == UNKNOWN:
        return NO_TIME
    return WENT_BACK if groups.went_back[row] else IS_KNOWN
