"""Outcome of each rebalance, by one rule for all assignors."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.summary.arrow_columns import Column, equals, is_true

OPTIMUM, NEEDLESS, UNBALANCED, INVALID, OPEN = (
    "optimum",
    "needless",
    "unbalanced",
    "invalid",
    "open",
)
OUTCOMES: Final = (OPTIMUM, NEEDLESS, UNBALANCED, INVALID, OPEN)


def outcome_of(rows: pa.Table | pa.RecordBatch) -> Column:
    """Return the outcome of each row of ``answers`` or ``episodes``, a string."""
    return pa.array(OUTCOMES).take(outcome_codes(rows))


def outcome_codes(rows: pa.Table | pa.RecordBatch) -> Column:
    """Return the same as places in `OUTCOMES`, int8."""
    verdict, balanced = rows["verdict"], rows["dec_min_balanced"]
    invalid = pc.and_(pc.is_valid(verdict), pc.invert(equals(verdict, "valid")))
    beaten = is_true(pc.greater(rows["moves"], rows["moves_least"]))
    cases = [
        (invalid, INVALID),
        (is_true(rows["at_optimum"]), OPTIMUM),
        (pc.is_null(rows["at_optimum"]), OPEN),
        (is_true(pc.invert(balanced)), UNBALANCED),
        (pc.and_(is_true(balanced), beaten), NEEDLESS),
    ]
    outcome: Column = _code(OPEN)
    for flags, name in reversed(cases):
        outcome = pc.if_else(flags, _code(name), outcome)
    return outcome


def _code(name: str) -> pa.Scalar:
    return pa.scalar(OUTCOMES.index(name), pa.int8())
