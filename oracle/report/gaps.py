"""Gaps of assignors to the optimum, by size, one row per assignor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from oracle.summary import COUNT_EDGES, LAG_EDGES, SCORE_EDGES, AssignorCounts
from pipeline.evaluation import KIP54, OPTIMUM

BESTS: Final = (OPTIMUM, KIP54)
"""Optima with which assignors are compared; they are not assignors."""


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
    """One measure; ``bins`` are the names of sizes, the first is not a gap."""

    measure: str
    bins: tuple[str, ...]
    rows: tuple[GapRow, ...]


def gaps_of(answers: AssignorCounts, order: Sequence[str]) -> tuple[Gaps, Gaps, Gaps]:
    """Count gaps in balance, moves, and peak lag; assignors are in the given order.

    Moves are compared only for assignments that are as balanced as the optimum, because
    a less balanced one can have fewer moves. Lag is compared with its bound.
    """
    counts, lag = answers.answers, answers.lag
    percent = np.searchsorted(LAG_EDGES, lag["percent"].to_numpy())
    sized = lag.append_column("lag_size", pa.array(percent))
    return (
        _gaps("balance", _sizes(counts, "score_size"), SCORE_EDGES, order),
        _gaps("moves", _sizes(counts, "moves_size"), COUNT_EDGES, order),
        _gaps("lag", _sizes(sized, "lag_size"), LAG_EDGES, order),
    )


def _sizes(counts: pa.Table, size: str) -> Iterable[tuple[str, int, int]]:
    """Return assignor, size, and rebalances, where the size is known."""
    rows = counts.filter(pc.is_valid(counts[size]))
    names = ("assignor", size, "rebalances")
    return zip(*(rows[name].to_pylist() for name in names), strict=True)


def _gaps(
    measure: str,
    sizes: Iterable[tuple[str, int, int]],
    edges: Sequence[int],
    order: Sequence[str],
) -> Gaps:
    found: dict[str, Counter[int]] = {}
    for name, size, rebalances in sizes:
        found.setdefault(name, Counter())[size] += rebalances
    rows = [
        GapRow(
            name=name,
            counts=tuple(found[name][size] for size in range(len(edges) + 1)),
        )
        for name in order
        if name in found and name not in BESTS
    ]
    bins = (str(edges[0]), *_named(edges), f">{edges[-1]}")
    return Gaps(measure=measure, bins=bins, rows=tuple(rows))


def _named(edges: Sequence[int]) -> Iterable[str]:
    """Name the sizes between the edges; one that has a single value by the value."""
    for below, edge in pairwise(edges):
        yield str(edge) if edge == below + 1 else f"≤{edge}"
