"""Confirm every hang with a new process and a longer limit before it counts.

On a busy machine, a program can miss a time limit without being in an endless loop.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from conformance.clients import Answer, Verdict
from conformance.runs import External, Subject

PATIENCE: Final = 4
"""The longer limit, in units of the first one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmed:
    """A program whose hangs are confirmed; each process starts its own."""

    external: External

    def start(self) -> Subject:
        """Return the subject; what it reports as a hang was seen twice."""
        longer = replace(self.external, seconds=PATIENCE * self.external.seconds)
        return _ConfirmedSubject(quick=self.external.start(), patient=longer)

    def start_impatient(self, seconds: float) -> Subject:
        """Return the subject with a shorter limit and without a second attempt."""
        return self.external.start_impatient(seconds)


@dataclass(slots=True, kw_only=True)
class _ConfirmedSubject:
    quick: Subject
    patient: External

    @property
    def name(self) -> str:
        return self.quick.name

    def answer(self, rebalance: bytes) -> Answer:
        answer = self.quick.answer(rebalance)
        if answer.verdict is not Verdict.HANG:
            return answer
        again = self.patient.start()
        try:
            return again.answer(rebalance)
        finally:
            again.close()

    def close(self) -> None:
        self.quick.close()
