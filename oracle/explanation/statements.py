"""Collection of statements: those that pass their check, and how many do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from oracle.explanation import bound_sentences, improvement_sentences  # noqa: F401 - they register their sentences
from oracle.explanation.explained_case import CheckError
from oracle.explanation.explanation_records import AnyStatement
from oracle.explanation.sentences import sentence_of


@dataclass(slots=True)
class Statements:
    """The statements of one explanation."""

    listed: list[AnyStatement] = field(default_factory=list)
    more: Counter[str] = field(default_factory=Counter)
    withdrawn: int = 0

    def add(self, *statements: AnyStatement) -> None:
        """Add checked statements, with their sentences."""
        for statement in statements:
            text = sentence_of(statement)
            self.listed.append(statement.model_copy(update={"text": text}))

    def count_more(self, kind: str, number: int) -> None:
        """Count statements that are not listed."""
        if number > 0:
            self.more[kind] += number

    @contextmanager
    def checking(self, number: int = 1) -> Iterator[None]:
        """Withdraw the ``number`` of statements of this block if a check fails."""
        try:
            yield
        except CheckError:
            self.withdrawn += number
