"""A subject with a moment at which its program is ended, whatever it does."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from conformance.clients import Answer, Verdict
from conformance.runs.difference import SentAnswer
from conformance.runs.other_processes import Repeatable
from conformance.runs.subject import Subject, WrappedSubject

_T = TypeVar("_T")
_Ended = TypeVar("_Ended", bound=Subject)


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
        if isinstance(subject, Repeatable):
            yield _TimedRepeats(subject=subject, deadline=deadline)
        else:
            yield _Timed(subject=subject, deadline=deadline)
    finally:
        timer.cancel()
        timer.join()


@dataclass(slots=True, kw_only=True, eq=False)
class _Timed(WrappedSubject[_Ended]):
    """A subject whose program is ended at a deadline."""

    deadline: float

    def answer(self, rebalance: bytes) -> Answer:
        """Return the answer.

        Raises
        ------
        OutOfTimeError
            If the deadline has passed, or passes meanwhile. The findings until then are
            still true: that the program hangs, or is slow.
        OSError or OutsideError
            If the assignor cannot be started or reached.
        """
        answer = self._in_time(lambda: self.subject.answer(rebalance))
        is_known = answer.verdict in {Verdict.HANG, Verdict.SLOW}
        if answer.assignment is None and not is_known and self._is_late():
            raise OutOfTimeError
        return answer

    def _in_time(self, ask: Callable[[], _T]) -> _T:
        if self._is_late():
            raise OutOfTimeError
        try:
            return ask()
        except Exception:
            if self._is_late():
                raise OutOfTimeError from None
            raise

    def _is_late(self) -> bool:
        return time.monotonic() >= self.deadline


class _TimedRepeats(_Timed[Repeatable]):
    """One with other processes, which are ended as well; see `Repeatable`."""

    def ask_twin(self, line: bytes) -> SentAnswer:
        return self._repeated(lambda: self.subject.ask_twin(line))

    def ask_new(self, line: bytes, hash_seed: int) -> SentAnswer:
        return self._repeated(lambda: self.subject.ask_new(line, hash_seed))

    def ask_kept(self, line: bytes, hash_seed: int, number: int = 0) -> SentAnswer:
        return self._repeated(lambda: self.subject.ask_kept(line, hash_seed, number))

    def end_kept(self) -> None:
        self.subject.end_kept()

    def _repeated(self, ask: Callable[[], SentAnswer]) -> SentAnswer:
        sent = self._in_time(ask)
        if sent.answer.assignment is None and self._is_late():
            raise OutOfTimeError
        return sent
