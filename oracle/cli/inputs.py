"""Documents of an input: the good ones go on, each bad one is reported and counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from oracle.cli.codes import FINE, USAGE
from oracle.cli.terminal import complain
from rebalance import DocumentError, InstanceError

_T = TypeVar("_T")


@dataclass(slots=True)
class Complaints:
    """What was wrong with the input; told as it is met, remembered for the end."""

    count: int = 0

    def add(self, message: str) -> None:
        """Tell of one more."""
        self.count += 1
        complain(message)

    @property
    def exit_code(self) -> int:
        """2 when the input was not all good."""
        return USAGE if self.count else FINE


def good(
    documents: Iterable[_T | DocumentError], complaints: Complaints
) -> Iterator[tuple[int, _T]]:
    """Pass the documents on that are some, with their place in the input, from 1."""
    for number, document in enumerate(documents, start=1):
        if isinstance(document, DocumentError):
            complaints.add(str(document))
        else:
            yield number, document


@contextmanager
def refusals(complaints: Complaints, *, source: str, number: int) -> Iterator[None]:
    """Report an instance that contradicts itself or that an assignor refuses."""
    try:
        yield
    except InstanceError as error:
        complaints.add(f"{source}: document {number}: {error}")
