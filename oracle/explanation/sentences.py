"""The sentence of each statement."""

from __future__ import annotations

from functools import singledispatch

from oracle.explanation.bound_sentences import (
    certified_text,
    crowded_claims_text,
    lower_bound_text,
    outranked_claims_text,
    tight_block_text,
    uncheckable_text,
)
from oracle.explanation.improvement_sentences import (
    better_assignment_text,
    claim_exchange_text,
    gap_text,
    improving_chain_text,
    moves_given_back_text,
    peak_member_text,
    unbalanced_text,
    uneven_topic_text,
    violated_text,
)
from oracle.explanation.statement_records import Statement


@singledispatch
def sentence_of(statement: Statement) -> str:
    """Return the sentence of a statement, as text of one or more sentences."""
    raise TypeError(type(statement).__name__)


for _text in (
    violated_text,
    gap_text,
    unbalanced_text,
    improving_chain_text,
    uneven_topic_text,
    claim_exchange_text,
    moves_given_back_text,
    peak_member_text,
    better_assignment_text,
    tight_block_text,
    crowded_claims_text,
    outranked_claims_text,
    lower_bound_text,
    uncheckable_text,
    certified_text,
):
    sentence_of.register(_text)
