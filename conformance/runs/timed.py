"""A subject with a moment at which its program is ended, whatever it does."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from conformance.clients import Answer, Verdict
from conformance.runs.subject import Subject


class OutOfTimeError(Exception):
    """The time of the run ended before the answer; the rebalance does not count."""


@contextmanager
def until(subject: Subject, deadline: float | None) -> Iterator[Subject]:
    """Yield the subject with a deadline, or as it is without one.

    ``deadline`` is of `time.monotonic`, which all processes of a machine share.
    """
    if deadline is None:
        yield subject
        return
    left = max(0.0, deadline - time.monotonic())
    timer = threading.Timer(min(left, threading.TIMEOUT_MAX), subject.cut)
    timer.daemon = True
    timer.start()
    try:
        yield _Timed(subject=subject, deadline=deadline)
    finally:
        timer.cancel()
        timer.join()


@dataclass(slots=True, kw_only=True)
class _Timed:
    """A subject whose program is ended at a deadline."""

    subject: Subject
    deadline: float

    @property
    def name(self) -> str:
        """The name of the subject."""
        return self.subject.name

    def answer(self, rebalance: bytes) -> Answer:
        """Return the answer.

        Raises
        ------
        OutOfTimeError
            If the deadline has passed, or passes meanwhile. What has been found by
            then is no less true: that the program hangs, or is slow.
        OSError or OutsideError
            If the assignor cannot be started or reached.
        """
        if self._is_late():
            raise OutOfTimeError
        try:
            answer = self.subject.answer(rebalance)
        except Exception:
            if self._is_late():
                raise OutOfTimeError from None
            raise
        is_known = answer.verdict in {Verdict.HANG, Verdict.SLOW}
        if answer.assignment is None and not is_known and self._is_late():
            raise OutOfTimeError
        return answer

    def cut(self) -> None:
        """End what the subject does."""
        self.subject.cut()

    def close(self) -> None:
        """End the subject's program."""
        self.subject.close()

    def _is_late(self) -> bool:
        return time.monotonic() >= self.deadline
