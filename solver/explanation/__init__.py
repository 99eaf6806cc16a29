"""Explanations of assignments, as data: how one could be better, or why none is.

Everything here is computed from the columns and from the certificate of the exact core.
It is checked elsewhere, from the documents, before anyone sees it.
"""

from solver.explanation.balanced_exchanges import Exchange, needless_moves
from solver.explanation.balancing_chains import Balancing, balance
from solver.explanation.blocks import blocks_of
from solver.explanation.crowded_claims import (
    Crowd,
    Outranked,
    crowds_of,
    outranked_claims,
)
from solver.explanation.peak_exchange import lower_peak
from solver.explanation.returned_moves import give_back
from solver.explanation.transfers import (
    Chain,
    apply,
)

__all__ = [
    "Balancing",
    "Chain",
    "Crowd",
    "Exchange",
    "Outranked",
    "apply",
    "balance",
    "blocks_of",
    "crowds_of",
    "give_back",
    "lower_peak",
    "needless_moves",
    "outranked_claims",
]
