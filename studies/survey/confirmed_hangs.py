"""Ask a new process again, patiently, before a missing answer counts as a hang.

On a busy machine, a program can miss a time limit without being in an endless loop. The
first attempt ends with the limit in seconds, the second with the answer or with a hang
as `Patience` defines it.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from conformance.clients import Answer, Verdict
from conformance.runs import External, Subject, WrappedSubject

_OPEN: Final[list[Subject]] = []
"""Subjects of this process that are not closed: a program in a loop outlives it."""


def close_all() -> None:
    """Close the subjects that this process has started, because it ends."""
    for subject in tuple(_OPEN):
        subject.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmed:
    """A program whose missing answers are confirmed; each process starts its own."""

    external: External

    def start(self) -> Subject:
        """Return the subject; a hang that it reports was seen twice."""
        external = self.external
        hasty = replace(external.patience, is_patient=False)
        first = replace(external, patience=hasty).start()
        patient = replace(external, patience=replace(hasty, is_patient=True))
        return _opened(_ConfirmedSubject(subject=first, patient=patient))

    def leading(self) -> Confirmed:
        """Return the program with a leader that lives from rebalance to rebalance."""
        return replace(self, external=self.external.leading())

    def start_impatient(self, seconds: float) -> Subject:
        """Return the subject with a shorter limit and without a second attempt."""
        return _opened(_Listed(subject=self.external.start_impatient(seconds)))

    def start_other(self, hash_seed: int) -> Subject:
        """Return the subject in another process, without a second attempt."""
        return _opened(_Listed(subject=self.external.start_other(hash_seed)))


def _opened(subject: Subject) -> Subject:
    _OPEN.append(subject)
    return subject


@dataclass(slots=True, kw_only=True, eq=False)
class _Listed(WrappedSubject[Subject]):
    """A subject that is open until it is closed."""

    def close(self) -> None:
        with suppress(ValueError):  # it was closed before
            _OPEN.remove(self)
        self.subject.close()


@dataclass(slots=True, kw_only=True, eq=False)
class _ConfirmedSubject(_Listed):
    """A subject; an unanswered question is asked again, of a new, patient process."""

    patient: External
    repeated: Subject | None = None

    def answer(self, rebalance: bytes) -> Answer:
        answer = self.subject.answer(rebalance)
        if answer.verdict not in {Verdict.HANG, Verdict.SLOW}:
            return answer
        again = _opened(_Listed(subject=self.patient.start()))
        self.repeated = again
        try:
            return again.answer(rebalance)
        finally:
            self.repeated = None
            again.close()

    def cut(self) -> None:
        self.subject.cut()
        if (again := self.repeated) is not None:
            again.cut()
