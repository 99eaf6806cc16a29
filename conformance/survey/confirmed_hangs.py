"""Confirm every hang with a new process and a longer limit before it counts.

On a busy machine, a program can miss a time limit without being in an endless loop.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from conformance.clients import Answer, Verdict
from conformance.runs import External, Subject

PATIENCE: Final = 4
"""The longer limit, in units of the first one."""


_OPEN: Final[list[Subject]] = []
"""Subjects of this process that are not closed: a program in a loop outlives it."""


def close_all() -> None:
    """Close the subjects that this process has started, because it ends."""
    for subject in tuple(_OPEN):
        subject.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmed:
    """A program whose hangs are confirmed; each process starts its own."""

    external: External

    def start(self) -> Subject:
        """Return the subject; what it reports as a hang was seen twice."""
        longer = replace(self.external, seconds=PATIENCE * self.external.seconds)
        return _opened(_ConfirmedSubject(self.external.start(), patient=longer))

    def start_impatient(self, seconds: float) -> Subject:
        """Return the subject with a shorter limit and without a second attempt."""
        return _opened(_Listed(self.external.start_impatient(seconds)))


def _opened(subject: Subject) -> Subject:
    _OPEN.append(subject)
    return subject


@dataclass(slots=True, eq=False)
class _Listed:
    """A subject that is open until it is closed."""

    subject: Subject

    @property
    def name(self) -> str:
        return self.subject.name

    def answer(self, rebalance: bytes) -> Answer:
        return self.subject.answer(rebalance)

    def cut(self) -> None:
        self.subject.cut()

    def close(self) -> None:
        with suppress(ValueError):  # it was closed before
            _OPEN.remove(self)
        self.subject.close()


@dataclass(slots=True, eq=False)
class _ConfirmedSubject(_Listed):
    """A subject; its hangs are repeated with a new process and a longer limit."""

    patient: External

    def answer(self, rebalance: bytes) -> Answer:
        answer = self.subject.answer(rebalance)
        if answer.verdict is not Verdict.HANG:
            return answer
        again = _opened(_Listed(self.patient.start()))
        try:
            return again.answer(rebalance)
        finally:
            again.close()
