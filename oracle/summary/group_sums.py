"""Results of the clients per group and per day, as sums that merge."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from oracle.summary.arrow_columns import equals, is_true, known, ones, summed, where
from oracle.summary.lag_summary import lag_known, percent_above
from oracle.summary.outcome_columns import INVALID, OUTCOMES, kip54_columns

GROUP_KEYS: Final = ("cluster", "group_id", "client_assignor")
_EXACT: Final = pa.decimal128(38)
"""For sums of lag, which can exceed 64 bits."""
_MICROSECONDS_PER_HOUR: Final = 3600 * 10**6


def client_counts(units: pa.Table) -> pa.Table:
    """Return rebalances by outcome and the sums of their gaps, per group and assignor.

    ``cooperative`` is the number of cooperative ones.
    """
    columns = {name: units[name] for name in GROUP_KEYS} | _summands(units)
    columns["cooperative"] = pc.cast(is_true(units["cooperative"]), pa.int64())
    return summed(pa.table(columns), GROUP_KEYS)


def day_counts(units: pa.Table, actual: pa.Table) -> pa.Table:
    """Return the same per day, with lag in records.

    ``needless_lag`` sums the lag of needless moves, at least. ``lag_known`` counts the
    generations of the clients whose lag is known; ``lag_above`` sums their peak lag
    beyond the bound, ``lag_bound`` the bound.
    """
    columns = {"date": units["date"]} | _summands(units)
    columns["needless_lag"] = units["needless_lag"].cast(_EXACT)
    days = summed(pa.table(columns), ["date"])
    flags = lag_known(actual)
    above = pc.subtract(actual["peak_lag"], actual["peak_lag_bound"])
    lag = {
        "date": actual["date"],
        "lag_known": pc.cast(flags, pa.int64()),
        "lag_above": where(flags, above).cast(_EXACT),
        "lag_bound": where(flags, actual["peak_lag_bound"]).cast(_EXACT),
    }
    found = days.join(summed(pa.table(lag), ["date"]), keys=["date"])
    return found.sort_by([("date", "ascending")])


def client_lag(actual: pa.Table) -> pa.Table:
    """Return the histogram of peak lag above its bound, per group and assignor."""
    rows = actual.filter(lag_known(actual))
    columns = {name: rows[name] for name in GROUP_KEYS}
    columns["percent"] = percent_above(rows)
    columns["rebalances"] = ones(len(rows))
    return summed(pa.table(columns), (*GROUP_KEYS, "percent"))


def kip54_counts(units: pa.Table) -> pa.Table:
    """Return the comparison with the KIP-54 optimum, per group and assignor."""
    valid = pc.invert(equals(units["outcome"], INVALID))
    columns = {name: units[name] for name in GROUP_KEYS}
    for name, column in kip54_columns(units, valid).items():
        columns[name] = pc.cast(column, pa.int64())
    return summed(pa.table(columns), GROUP_KEYS)


def hourly_generations(rebalances: pa.Table) -> pa.Table:
    """Return generations per group and clock hour (UTC), in order.

    ``hour`` counts from 1970; generations without a time are left out.
    """
    rows = rebalances.filter(known(rebalances["at"]))
    hour = pc.divide(rows["at"].cast(pa.int64()), _MICROSECONDS_PER_HOUR)
    columns = {name: rows[name] for name in ("cluster", "group_id")}
    columns |= {"hour": hour, "generations": ones(len(rows))}
    keys = ("cluster", "group_id", "hour")
    found = summed(pa.table(columns), keys)
    return found.sort_by([(name, "ascending") for name in keys])


def _summands(units: pa.Table) -> dict[str, pa.ChunkedArray]:
    counts = {
        name: pc.cast(equals(units["outcome"], name), pa.int64()) for name in OUTCOMES
    }
    return counts | {name: units[name] for name in ("needless_moves", "transfers")}
