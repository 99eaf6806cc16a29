"""Measures of an assignor: shares and means, by family and in total."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow.parquet as pq

from benchmarks.quality.answering import REFUSED
from benchmarks.quality.intervals import (
    Interval,
    mean_of,
    mean_share,
    resampled_means,
    wilson,
)
from conformance.runs import Category
from rebalance import Bools, Int64

Row = dict[str, Any]

SHARES: Final = ("valid", "kip54", "balanced", "optimal")
MEANS: Final = ("spread_gap", "moves_gap", "needless_moves")
PER_PARTITION: Final = frozenset({"moves_gap", "needless_moves"})
"""Means that are stated per 100 partitions, so that large families do not decide."""
DIGITS: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The records of one assignor and one family, as columns in the order of draws.

    Attributes
    ----------
    applies : bool (n,)
        Whether the assignor does not refuse the instance.
    shares : bool (n,) by name
    means, counts : int64 (n,) and bool (n,) by name
        Values, and where they exist.
    """

    categories: tuple[str, ...]
    applies: Bools
    shares: Mapping[str, Bools]
    means: Mapping[str, Int64]
    counts: Mapping[str, Bools]


def measured(file: Path) -> Measured:
    """Read the records of one assignor and one family."""
    columns = ["category", "valid", "kip54", "balanced", *MEANS]
    table = pq.read_table(file, columns=columns)
    categories = np.asarray(table["category"].to_pylist(), dtype=np.str_)
    shares = {
        name: np.asarray(table[name].to_pylist(), dtype=np.bool_)
        for name in SHARES
        if name != "optimal"
    }
    shares["optimal"] = categories == Category.OPTIMAL.value
    return Measured(
        categories=tuple(categories.tolist()),
        applies=categories != REFUSED,
        shares=shares,
        means={
            name: np.asarray(table[name].fill_null(0).to_pylist(), dtype=np.int64)
            for name in MEANS
        },
        counts={
            name: np.asarray(table[name].is_valid().to_pylist(), dtype=np.bool_)
            for name in MEANS
        },
    )


def scale_of(name: str, partitions: float) -> float:
    """Return the factor of a mean; ``partitions`` is the mean of the family."""
    return 100 / partitions if name in PER_PARTITION and partitions else 1.0


def summarized(
    name: str, families: Mapping[str, Measured], partitions: Mapping[str, float]
) -> tuple[dict[str, Row], Row]:
    """Return the figures of an assignor by family, and in total.

    Parameters
    ----------
    name : str
        The assignor, which seeds the resampling.
    partitions : mapping
        Mean number of partitions per instance, by family.
    """
    found = {family: _of_family(answered) for family, answered in families.items()}
    total: Row = {"families": sum(row["n"] > 0 for row in found.values())}
    if not total["families"]:
        return found, total
    for share in SHARES:
        pairs = [(row[share][0], row["n"]) for row in found.values() if row["n"]]
        total[share] = rounded(mean_share(pairs))
    for mean in MEANS:
        resamples = []
        for family, answered in families.items():
            values = answered.means[mean][answered.counts[mean]]
            if not values.size:
                continue
            scale = scale_of(mean, partitions[family])
            drawn = scale * resampled_means(values, seed=f"{name}/{mean}/{family}")
            resamples.append(drawn)
            about = [int(values.sum()), int(values.size)]
            found[family][mean] = about + rounded(mean_of([drawn]))
        if resamples:
            total[mean] = rounded(mean_of(resamples))
    return found, total


def _of_family(answered: Measured) -> Row:
    """Return counts, and shares as [successes, mean, low, high]."""
    count = int(answered.applies.sum())
    outcomes = Counter(answered.categories)
    order = [*(category.value for category in Category), REFUSED]
    row: Row = {
        "records": len(answered.categories),
        "n": count,
        "outcomes": {name: outcomes[name] for name in order if outcomes[name]},
    }
    for share in SHARES if count else ():
        successes = int(answered.shares[share].sum())
        row[share] = [successes, *rounded(wilson(successes, count))]
    return row


def rounded(interval: Interval) -> list[float]:
    """Return mean, low, and high with `DIGITS` digits; a zero has no sign."""
    return [round(value, DIGITS) + 0.0 for value in interval]
