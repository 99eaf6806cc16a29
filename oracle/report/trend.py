"""Results of the clients per day."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from oracle.report.outcomes import OutcomeCounts, counts_of
from oracle.summary import day_counts
from pipeline.tables import UNDATED

DAYS_SHOWN: Final = 92
"""Days in the trend, the last ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """Rebalances of one day (UTC).

    ``lag_known`` are generations with known lag, ``lag_above`` is the sum of their peak
    lag beyond its bound, and ``needless_lag`` at least the lag of needless moves, in
    records.
    """

    date: str
    counts: OutcomeCounts
    lag_known: int
    lag_above: int
    needless_lag: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """The last days, and the number of days before them."""

    days: tuple[Day, ...]
    left_out: int

    @property
    def lag_known(self) -> int:
        """Generations with known lag."""
        return sum(day.lag_known for day in self.days)


def trend_of(units: pa.Table, actual: pa.Table) -> Trend:
    """Sum the clients' results per day; rebalances without a day are left out."""
    days = [
        Day(
            date=row["date"],
            counts=counts_of(OutcomeCounts, row),
            lag_known=row["lag_known"] or 0,
            lag_above=int(row["lag_above"] or 0),
            needless_lag=int(row["needless_lag"] or 0),
        )
        for row in day_counts(units, actual).to_pylist()
        if row["date"] != UNDATED
    ]
    return Trend(
        days=tuple(days[-DAYS_SHOWN:]), left_out=max(0, len(days) - DAYS_SHOWN)
    )
