"""How long an answer is awaited: slow is not a hang.

On a busy machine, or for a large rebalance, a right answer can come later than a limit
in seconds. A hang is therefore told by the CPU time of the program and its children:
it still runs after 60 s of CPU time and after 100 times that of our own sticky for the
size; or it has not used a processor for 60 s, nor waited for one. A patient wait ends
there, or with `seconds` if that is later. An impatient one ends after `seconds`, and
cannot tell most hangs from slow answers.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from conformance.clients.answer import Answer, Verdict
from conformance.clients.cpu_time import TICKS, Used
from conformance.clients.reference_time import RebalanceSize, reference_seconds

LOOK_SECONDS: Final = 0.25
"""Between two looks at a program that has not answered."""

IDLE_SHARE: Final = 50
"""A program below this part of a processor is idle: runtimes have own timers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """When a missing answer is a hang.

    Attributes
    ----------
    is_patient : bool
        Whether an answer is awaited until it comes or is a hang.
    cpu_seconds : float
        Least CPU time of a hang.
    times : int
        Least CPU time of a hang, in units of `reference` for its size.
    idle_seconds : float
        Time of a hang that does not use the processor.
    reference : callable
        Returns the CPU seconds of an assignor of ours.
    """

    is_patient: bool = True
    cpu_seconds: float = 60.0
    times: int = 100
    idle_seconds: float = 60.0
    reference: Callable[[RebalanceSize], float] = reference_seconds

    def cpu_limit(self, size: RebalanceSize) -> int:
        """Return the CPU time after which a program hangs, ticks."""
        least = _ticks(self.cpu_seconds)
        if self.times == 0:
            return least
        return max(least, _ticks(self.times * self.reference(size)))


def suspecting(seconds: float) -> Patience:
    """Return the patience that suspects a hang after so much CPU or idle time.

    For instances that are tried in order to shrink a hang, which is confirmed after.
    """
    return Patience(cpu_seconds=seconds, idle_seconds=seconds, times=0)


@dataclass(slots=True)
class _Mark:
    """Where the time without CPU use begins, and the looks since."""

    at: float
    ticks: int
    looks: int = 0
    busy: int = 0


class Watch:
    """One answer that is awaited; looks at the program from time to time.

    Parameters
    ----------
    seconds : float
        After which an answer is late.
    patience : Patience
    size : callable
        Returns the size of the rebalance; called only if the answer is late.
    used : callable or None
        Returns the CPU time of the program; None if it cannot be known.
    is_new : bool
        Whether the program has just been started for this answer.
    now : callable
        The time, seconds.
    """

    def __init__(
        self,
        *,
        seconds: float,
        patience: Patience,
        size: Callable[[], RebalanceSize],
        used: Callable[[], Used] | None,
        is_new: bool = False,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.seconds, self._patience, self._now = seconds, patience, now
        self._size, self._used = size, used
        self._start = self._looked = now()
        # A clock read before each answer would cost more than most answers.
        self._base: int | None = 0 if is_new else None
        self._spent = 0
        self._mark = _Mark(self._start, 0)
        self._limit: int | None = None

    @property
    def pause(self) -> float:
        """Time until the next look, seconds; 0 if it is due."""
        due = self._looked + min(LOOK_SECONDS, self._patience.idle_seconds / 4)
        late = self._start + self.seconds
        if self._looked < late:
            due = min(due, late)
        return max(0.0, due - self._now())

    def look(self) -> Answer | None:
        """Look at the program; return the verdict on a missing answer."""
        now = self._looked = self._now()
        self._count(now)
        if now - self._start < self.seconds:
            return None
        if (reason := self._hang(now)) is not None:
            return Answer(verdict=Verdict.HANG, reason=f"{reason}; {self._size()}")
        if self._patience.is_patient:
            return None
        return Answer(
            verdict=Verdict.SLOW, reason=self._slow(f"no answer in {self.seconds:g} s")
        )

    def cut(self) -> Answer | None:
        """Return the verdict on a program that was ended from outside: slow, if late.

        A question that it had for less than the limit in seconds means nothing.
        """
        now = self._now()
        if now - self._start < self.seconds:
            return None
        text = f"no answer in {now - self._start:.1f} s, when the run ended"
        return Answer(verdict=Verdict.SLOW, reason=self._slow(text))

    def answered(self, answer: Answer) -> Answer:
        """Return an answer that has come; it states whether it is late."""
        now = self._now()
        if now - self._start <= self.seconds or answer.assignment is None:
            return answer
        self._count(now)
        text = f"answered after {now - self._start:.1f} s, later than"
        return replace(
            answer, is_late=True, reason=self._slow(f"{text} {self.seconds:g} s")
        )

    def _count(self, now: float) -> None:
        """Add the CPU time since the last look, and note when little of it was used."""
        if self._used is None:
            return
        ticks, is_busy = self._used()
        if self._base is None:
            self._base = ticks
        self._spent = ticks - self._base
        mark = self._mark
        mark.looks += 1
        mark.busy += is_busy
        idle = _ticks(self._patience.idle_seconds)
        is_used = self._spent - mark.ticks >= max(1, idle // IDLE_SHARE)
        is_over = now - mark.at >= self._patience.idle_seconds
        if is_used or (is_over and 2 * mark.busy > mark.looks):  # waits for a processor
            self._mark = _Mark(now, self._spent)

    def _hang(self, now: float) -> str | None:
        """Return why it is a hang, or None."""
        if self._spent >= _ticks(self._patience.cpu_seconds):
            if self._limit is None:  # measured only for a program that may hang
                self._limit = self._patience.cpu_limit(self._size())
            if self._spent >= self._limit:
                return f"no answer after {_seconds(self._limit)} s of CPU time"
        idle = self._patience.idle_seconds
        if now - self._mark.at < idle:
            return None
        if self._used is None:
            return f"no answer in {max(idle, self.seconds):g} s"
        return f"no answer, and no CPU time used for {idle:g} s"

    def _slow(self, text: str) -> str:
        spent = "" if self._used is None else f", {_seconds(self._spent)} s of CPU time"
        return f"{text}{spent}; {self._size()}"


def _ticks(seconds: float) -> int:
    return math.ceil(seconds * TICKS)


def _seconds(ticks: int) -> str:
    return f"{ticks / TICKS:,.1f}".removesuffix(".0")
