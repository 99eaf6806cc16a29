"""Collection of statements: those that pass their check, and how many do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from oracle.explanation.explained_case import CheckError
from oracle.explanation.records import AnyStatement
from oracle.explanation.sentences import sentence_of


@dataclass(slots=True)
class Statements:
    """The statements of one explanation."""

    listed: list[AnyStatement] = field(default_factory=list)
    more: Counter[str] = field(default_factory=Counter)
    withdrawn: int = 0

    def add(self, statement: AnyStatement) -> None:
        """Add a checked statement, with its sentence."""
        text = sentence_of(statement)
        self.listed.append(statement.model_copy(update={"text": text}))

    def count_more(self, kind: str, number: int) -> None:
        """Count statements that are not listed."""
        if number > 0:
            self.more[kind] += number

    @contextmanager
    def checking(self) -> Iterator[None]:
        """Withdraw the statement of this block if its check fails."""
        try:
            yield
        except CheckError:
            self.withdrawn += 1
