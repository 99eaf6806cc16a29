"""The sentence of each statement; modules of sentences register those of its kinds."""

from __future__ import annotations

from functools import singledispatch

from oracle.explanation.statement_records import Statement


@singledispatch
def sentence_of(statement: Statement) -> str:
    """Return the sentence of a statement, as text of one or more sentences."""
    raise TypeError(type(statement).__name__)
