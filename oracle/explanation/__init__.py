"""Explanations of assignments in checked statements, as data and in sentences."""

from oracle.explanation.cause_sentence import cause_text, silence_text
from oracle.explanation.explain_rebalance import explain
from oracle.explanation.explanation_records import Explanation
from oracle.explanation.screen import explanation_lines

__all__ = [
    "Explanation",
    "cause_text",
    "explain",
    "explanation_lines",
    "silence_text",
]
