"""Results of each assignor on all generations, as counts that merge.

The table ``answers`` has a row per rebalance and assignor. Batches of it are counted
one after the other, and the result has few rows whatever the number of rebalances.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from oracle.summary.arrow_columns import (
    Column,
    count,
    equals,
    is_true,
    known,
    ones,
    summed,
    where,
)
from oracle.summary.lag_summary import lag_known, percent_above
from oracle.summary.outcome_columns import (
    INVALID,
    NEEDLESS,
    OUTCOMES,
    kip54_columns,
    outcome_codes,
)
from pipeline.evaluation import ACTUAL, OPTIMUM
from pipeline.tables import SCHEMAS

COUNT_EDGES: Final = (0, 1, 3, 7, 15)
SCORE_EDGES: Final = (0, 4, 16, 64, 256)
LAG_EDGES: Final = (0, 10, 25, 50, 100)
"""Upper ends of the sizes of gaps; the last size has none."""

ANSWER_COLUMNS: Final = (
    "assignor",
    "cooperative",
    "applies",
    "verdict",
    "at_optimum",
    "at_kip54_optimum",
    "kip54_balanced",
    "dec_min_balanced",
    "moves",
    "moves_least",
    "moves_least_kip54",
    "kip54_score",
    "kip54_score_least",
    "peak_lag",
    "peak_lag_bound",
    "status",
    "proved_dec_min",
    "proved_stickiness",
)
"""Columns of ``answers`` that are read."""

_KEYS: Final = (
    "assignor",
    "outcome",
    "score_size",
    "moves_size",
    "balanced",
    "kip54_judged",
    "kip54_balanced",
    "kip54_best",
)
_LAG_KEYS: Final = ("assignor", "percent")


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignorCounts:
    """Counts per assignor.

    Attributes
    ----------
    rebalances : assignor, rebalances
        Generations on which it was run, or refused to.
    answers : as `_KEYS`, rebalances, needless_moves, kip54_needless_moves
        Of the generations to which it applies; ``actual`` has only eager ones, because
        in a cooperative round clients have to withhold partitions. Outcomes are places
        in `OUTCOMES`, sizes are places in the edges, or null: unknown.
    lag : assignor, percent, rebalances
        Histogram of peak lag above its bound, of valid answers.
    proved : int
        Generations whose optimum the judge has confirmed.
    """

    rebalances: pa.Table
    answers: pa.Table
    lag: pa.Table
    proved: int


def partial_assignor_counts(rows: pa.RecordBatch) -> AssignorCounts:
    """Count rows of ``answers`` with `ANSWER_COLUMNS`; assignors are a dictionary."""
    apart = pc.and_(equals(rows["assignor"], ACTUAL), is_true(rows["cooperative"]))
    taken = pc.and_(is_true(rows["applies"]), pc.invert(apart))
    counts = _named(summed(_measured(rows, taken), ["is_taken", *_KEYS]), rows)
    return AssignorCounts(
        rebalances=summed(counts.select(["assignor", "rebalances"]), ["assignor"]),
        answers=counts.filter(counts["is_taken"]).drop_columns("is_taken"),
        lag=_lag(rows, pc.and_(taken, lag_known(rows))),
        proved=count(_proved(rows)),
    )


def merge_assignor_counts(parts: Iterable[AssignorCounts]) -> AssignorCounts:
    """Add counts of several parts of the table."""
    all_parts = list(parts) or [partial_assignor_counts(_empty())]
    rebalances, answers, lag = (
        summed(pa.concat_tables(getattr(part, name) for part in all_parts), keys)
        for name, keys in (
            ("rebalances", ["assignor"]),
            ("answers", _KEYS),
            ("lag", _LAG_KEYS),
        )
    )
    return AssignorCounts(
        rebalances=rebalances,
        answers=answers,
        lag=lag,
        proved=sum(part.proved for part in all_parts),
    )


def _measured(rows: pa.RecordBatch, taken: Column) -> pa.Table:
    """Return keys and summands of each answer."""
    outcome = outcome_codes(rows)
    valid = pc.not_equal(outcome, OUTCOMES.index(INVALID))
    even = is_true(rows["dec_min_balanced"])
    needless = pc.subtract(rows["moves"], rows["moves_least"])
    score = pc.subtract(rows["kip54_score"], rows["kip54_score_least"])
    is_needless = pc.equal(outcome, OUTCOMES.index(NEEDLESS))
    columns = {
        "is_taken": taken,
        "assignor": _codes(rows),
        "outcome": outcome,
        "score_size": _size(score, SCORE_EDGES, valid),
        "moves_size": _size(needless, COUNT_EDGES, pc.and_(valid, even)),
        "balanced": even,
        "rebalances": ones(len(outcome)),
        "needless_moves": where(is_needless, needless),
    }
    return pa.table(columns | kip54_columns(rows, valid))


def _size(gap: Column, edges: tuple[int, ...], counted: Column) -> Column:
    """Return the number of edges below each gap; null if it is not counted."""
    size: Column = pc.cast(pc.greater(gap, edges[0]), pa.int8())
    for edge in edges[1:]:
        size = pc.add(size, pc.cast(pc.greater(gap, edge), pa.int8()))
    return pc.if_else(pc.and_(counted, known(gap)), size, pa.scalar(None, pa.int8()))


def _lag(rows: pa.RecordBatch, flags: Column) -> pa.Table:
    columns = {name: rows[name] for name in ("peak_lag", "peak_lag_bound")}
    coded = pa.table({"assignor": _codes(rows)} | columns)
    taken = coded.filter(flags)
    histogram = {
        "assignor": taken["assignor"],
        "percent": percent_above(taken),
        "rebalances": ones(len(taken)),
    }
    return _named(summed(pa.table(histogram), _LAG_KEYS), rows)


def _codes(rows: pa.RecordBatch) -> pa.Array:
    """Return assignors as places in the dictionary of the batch: quick to group by."""
    return rows["assignor"].indices


def _named(counts: pa.Table, rows: pa.RecordBatch) -> pa.Table:
    """Replace the places by names."""
    names = rows["assignor"].dictionary.take(counts["assignor"])
    place = counts.column_names.index("assignor")
    return counts.set_column(place, "assignor", names)


def _proved(rows: pa.Table) -> Column:
    best = pc.and_(equals(rows["assignor"], OPTIMUM), equals(rows["status"], "optimal"))
    proofs = pc.and_(
        is_true(rows["proved_dec_min"]), is_true(rows["proved_stickiness"])
    )
    return pc.and_(best, proofs)


def _empty() -> pa.RecordBatch:
    schema = SCHEMAS["answers"]
    fields = [schema.field(name) for name in ANSWER_COLUMNS]
    fields[0] = fields[0].with_type(pa.dictionary(pa.int32(), pa.string()))
    return pa.RecordBatch.from_pylist([], schema=pa.schema(fields))
