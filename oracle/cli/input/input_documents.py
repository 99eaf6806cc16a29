"""Input documents: valid ones are processed, invalid ones reported and counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from oracle.cli.codes import FINE, USAGE
from oracle.cli.printing.terminal import complain
from rebalance import DocumentError, InstanceError

_T = TypeVar("_T")


@dataclass(slots=True)
class Complaints:
    """Errors of the input: printed as they occur, and counted for the exit code."""

    count: int = 0

    def add(self, message: str) -> None:
        """Report one more error."""
        self.count += 1
        complain(message)

    def add_error(self, error: DocumentError) -> None:
        """Report an unreadable document, with one line per offending value."""
        self.count += 1
        for line in error.lines():
            complain(line)

    @property
    def exit_code(self) -> int:
        """2 if part of the input was unreadable."""
        return USAGE if self.count else FINE


def good(
    documents: Iterable[_T | DocumentError], complaints: Complaints
) -> Iterator[tuple[int, _T]]:
    """Yield the readable documents with their number in the input, from 1."""
    for number, document in enumerate(documents, start=1):
        if isinstance(document, DocumentError):
            complaints.add_error(document)
        else:
            yield number, document


@contextmanager
def refusals(complaints: Complaints, *, source: str, number: int) -> Iterator[None]:
    """Report an inconsistent instance, or one that an assignor refuses."""
    try:
        yield
    except InstanceError as error:
        complaints.add(f"{source}: document {number}: {error}")
