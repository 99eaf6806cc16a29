"""Tables of objectives, with bounds and proofs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from oracle.cli.printing.parts import Cell, Sheet
from oracle.names import visible
from oracle.wording import loads_text

if TYPE_CHECKING:
    from rebalance import ObjectiveDocument, Proof, Value

_COLUMNS: Final = ("objective", "value", "bound", "gap", "status", "rests on")
_SHOWN: Final = 60  # characters


def objectives_table(policy: str, objectives: Sequence[ObjectiveDocument]) -> Sheet:
    """Lay out each objective of a policy: value, bound, gap, and proof."""
    return Sheet(f"policy: {policy}", _COLUMNS, [*map(_row, objectives)])


def _row(document: ObjectiveDocument) -> Sequence[Cell]:
    unit = " (load × members)" if isinstance(document.value, list) else ""
    return (
        document.of + unit,
        in_units(document.value, document.scale),
        in_units(document.bound, document.scale),
        gap_text(document.value, document.bound, document.scale),
        "optimal" if document.value == document.bound else "feasible",
        proof_text(document.proof),
    )


def in_units(value: Value, scale: int | None) -> str:
    """Format a value; values in units of 1 ÷ scale as a fraction."""
    if isinstance(value, list):
        return loads_text(value) + ("" if scale is None else f" (÷ {scale:,})")
    return f"{value:,}" + ("" if scale is None else f" ÷ {scale:,}")


def gap_text(value: Value, bound: Value, scale: int | None = None) -> str:
    """Format the gap between value and bound, and its share of the value."""
    if value == bound:
        return "0"
    if isinstance(value, list) or isinstance(bound, list):
        return "open"
    return f"{in_units(value - bound, scale)} ({100 * (value - bound) / value:.2g} %)"


def proof_text(proof: Proof | None) -> str:
    """Format the basis of a bound: a certificate, the best term, or a search."""
    if proof is None:
        return "–"
    if proof.by == "search":
        return f"search ({visible(proof.engine, limit=_SHOWN)})"
    if proof.by == "terms":
        best = max(proof.terms, key=lambda term: term.bound)
        return f"terms ({visible(best.kind, limit=_SHOWN)})"
    return proof.by
