"""The interface of a tested assignor: an assignor behind a process or behind a wire."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from conformance.clients import Answer


class Subject(Protocol):
    """A third-party assignor that answers one rebalance at a time.

    `conformance.clients.Adapter` (a program that reads and writes lines) and
    `conformance.wire` (a consumer that is the leader of a group) implement it. A hang
    or a crash is an answer, and costs one rebalance.
    """

    @property
    def name(self) -> str:
        """Name in tables and records, ``franz-go@1.22.2/cooperative-sticky``."""
        ...

    def answer(self, rebalance: bytes) -> Answer:
        """Send one ``rebalance/1`` document without line breaks; return the outcome.

        Raises
        ------
        OSError or OutsideError
            If the assignor cannot be started or reached.
        """
        ...

    def cut(self) -> None:
        """End the program while another thread waits for its answer, which then fails.

        Without an answer to wait for, it can be without effect.
        """
        ...

    def close(self) -> None:
        """End the assignor, if it runs; it starts again with the next rebalance."""
        ...


_Inner = TypeVar("_Inner", bound=Subject)


@dataclass(slots=True, kw_only=True, eq=False)
class WrappedSubject(Generic[_Inner]):
    """A subject that passes all calls to another one; a subclass overrides some."""

    subject: _Inner

    @property
    def name(self) -> str:
        """The name of the other one."""
        return self.subject.name

    def answer(self, rebalance: bytes) -> Answer:
        """Return the answer of the other one."""
        return self.subject.answer(rebalance)

    def cut(self) -> None:
        """End the work of the other one."""
        self.subject.cut()

    def close(self) -> None:
        """End the other one."""
        self.subject.close()
