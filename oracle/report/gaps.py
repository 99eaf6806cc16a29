"""Gaps of assignors to the optimum, by size, one row per assignor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from oracle.report.outcomes import INVALID
from oracle.report.units import BESTS

_Bins = tuple[tuple[int, str], ...]

_COUNT_BINS: Final[_Bins] = ((0, "0"), (1, "1"), (3, "≤3"), (7, "≤7"), (15, "≤15"))
_SCORE_BINS: Final[_Bins] = (
    (0, "0"),
    (4, "≤4"),
    (16, "≤16"),
    (64, "≤64"),
    (256, "≤256"),
)
_LAG_BINS: Final[_Bins] = (
    (0, "0"),
    (10, "≤10"),
    (25, "≤25"),
    (50, "≤50"),
    (100, "≤100"),
)
_BEYOND: Final[dict[_Bins, str]] = {
    _COUNT_BINS: ">15",
    _SCORE_BINS: ">256",
    _LAG_BINS: ">100",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GapRow:
    """One assignor: rebalances per bin."""

    name: str
    counts: tuple[int, ...]

    @property
    def total(self) -> int:
        """Rebalances for which the gap is known."""
        return sum(self.counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gaps:
    """One measure; ``bins`` are the names of sizes, the first is no gap."""

    measure: str
    bins: tuple[str, ...]
    rows: tuple[GapRow, ...]


def gaps_of(units: pd.DataFrame) -> tuple[Gaps, Gaps, Gaps]:
    """Count gaps in balance, moves, and peak lag over `units.assignor_units`.

    Moves are compared only for assignments that are as balanced as the optimum, because
    a less balanced one can have fewer moves. Lag is compared with its bound.
    """
    valid = units[units["outcome"] != INVALID]
    score = valid["kip54_score"] - valid["kip54_score_least"]
    even = valid[valid["dec_min_balanced"].fillna(False)]
    moves = even["moves"] - even["moves_least"]
    known = valid[valid["peak_lag"].notna() & valid["peak_lag_bound"].notna()]
    known = known[~known["assignor"].isin(BESTS)]
    return (
        _gaps("balance", valid["assignor"], score, _SCORE_BINS),
        _gaps("moves", even["assignor"], moves, _COUNT_BINS),
        _gaps("lag", known["assignor"], percent_above(known), _LAG_BINS),
    )


def percent_above(known: pd.DataFrame) -> pd.Series[int]:
    """Return the percentage, rounded up, by which peak lag exceeds its bound."""
    bound = known["peak_lag_bound"].to_numpy(dtype=np.float64)
    above = known["peak_lag"].to_numpy(dtype=np.float64) - bound
    # If the bound is 0, so is the peak lag; the maximum avoids a division by 0.
    percent = np.ceil(100 * above / np.maximum(bound, 1)).astype(np.int64)
    return pd.Series(percent, index=known.index, dtype="int64")


def _gaps(
    measure: str,
    assignor: pd.Series[str],
    gap: pd.Series[int],
    bins: _Bins,
) -> Gaps:
    known = gap.notna() & ~assignor.isin(BESTS)
    sizes = gap[known].to_numpy(dtype=np.int64)
    names = assignor[known]
    edges = [edge for edge, _ in bins]
    rows = []
    for name in sorted(set(names), key=lambda one: (one != "actual", one)):
        place = np.searchsorted(edges, sizes[(names == name).to_numpy(dtype=bool)])
        counts = np.bincount(place, minlength=len(bins) + 1)
        rows.append(GapRow(name=str(name), counts=tuple(counts.tolist())))
    labels: Sequence[str] = [label for _, label in bins]
    return Gaps(measure=measure, bins=(*labels, _BEYOND[bins]), rows=tuple(rows))
