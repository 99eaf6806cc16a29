"""Outcome of each rebalance, by one rule for all assignors, and its gaps."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from oracle.summary.arrow_columns import Column, equals, is_true, where
from pipeline.tables import least_transfers

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


def kip54_columns(rows: pa.Table | pa.RecordBatch, valid: Column) -> dict[str, Column]:
    """Return the comparison of valid answers with the KIP-54 optimum: flags, and moves.

    ``kip54_judged`` is whether the optimum is proved, and no partition withheld.
    """
    judged = pc.and_(valid, pc.is_valid(rows["at_kip54_optimum"]))
    balanced = pc.and_(judged, is_true(rows["kip54_balanced"]))
    beyond = pc.subtract(rows["moves"], rows["moves_least_kip54"])
    return {
        "kip54_judged": judged,
        "kip54_balanced": balanced,
        "kip54_best": pc.and_(judged, is_true(rows["at_kip54_optimum"])),
        "kip54_needless_moves": where(balanced, beyond),
    }


def needless_moves(rows: pa.Table | pa.RecordBatch, flags: Column) -> Column:
    """Return moves beyond the fewest, where the flag is true."""
    return where(flags, pc.subtract(rows["moves"], rows["moves_least"]))


def transfers_needed(rows: pa.Table | pa.RecordBatch, flags: Column) -> Column:
    """Return the least number of transfers for balanced loads, where the flag is true.

    See `pipeline.tables.least_transfers`.
    """
    columns = ("kip54_score", "kip54_score_least", "members")
    return where(flags, least_transfers(*(rows[name] for name in columns)))


def _code(name: str) -> pa.Scalar:
    return pa.scalar(OUTCOMES.index(name), pa.int8())
