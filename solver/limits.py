"""Limits on the time, effort and memory of a solve.

Reaching a limit is a status of the result, not an error. Inside an engine,
`LimitExceededError` unwinds nested calls.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Final

import psutil

DEFAULT_EFFORT: Final = 15.0
"""Effort of a solve whose caller limits neither effort nor seconds.

``python -m benchmarks.default_effort`` checks that every group of the recordings and of
the corpus ends within 60 CPU seconds.
"""


class LimitExceededError(Exception):
    """A computation ended before its result, because a limit was reached.

    Attributes
    ----------
    reason : str
        The limit, or another reason why it ended, in words for a user.
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits that a caller sets; the clock starts at construction.

    Attributes
    ----------
    seconds : float or None
        Wall time; None: no limit.
    effort : float or None
        Work of a search, in CP-SAT's deterministic units of about a second each. Unlike
        wall time, it is reached at the same step in every run. None: `DEFAULT_EFFORT`
        in `solver.solve` if ``seconds`` is None, otherwise no limit; ``math.inf``: no
        limit.
    memory : int or None
        Resident bytes of this process and its child processes.
    stop : Event
        Set it to make engines return the best result so far (Ctrl-C).
    seed : int
        Of every randomized search.
    workers : int
        Threads of a search. Results are reproducible only with one.
    is_default : bool
        Whether ``effort`` is that of `with_default_effort`. Engines may then end
        earlier, where more effort rarely changes an answer.
    """

    seconds: float | None = None
    effort: float | None = None
    memory: int | None = None
    stop: Event = field(default_factory=Event)
    seed: int = 0
    workers: int = 1
    is_default: bool = False
    _start: float = field(default_factory=time.monotonic)

    @property
    def left(self) -> float | None:
        """Seconds left, at least 0; None: no limit."""
        if self.seconds is None:
            return None
        return max(0.0, self._start + self.seconds - time.monotonic())

    def with_default_effort(self) -> Limits:
        """Return limits that end every solve: `DEFAULT_EFFORT` if none else does."""
        if self.effort is not None or self.seconds is not None:
            return self
        return replace(self, effort=DEFAULT_EFFORT, is_default=True)

    def exceeded(self, *, beside: int = 0) -> str | None:
        """Name the limit that is reached, in words for a user; None if none is.

        Parameters
        ----------
        beside : int
            Resident bytes of child processes.
        """
        if self.stop.is_set():
            return "interrupted"
        if self.left == 0.0:
            return f"time limit of {self.seconds:g} s"
        if self.memory is not None and resident_bytes() + beside > self.memory:
            return self.memory_words
        return None

    def check(self) -> None:
        """Raise LimitExceededError if a limit is reached."""
        if (reason := self.exceeded()) is not None:
            raise LimitExceededError(reason)

    @property
    def memory_words(self) -> str:
        """Name the memory limit, in words for a user."""
        return f"memory limit of {(self.memory or 0) >> 20} MiB"


def resident_bytes(pid: int | None = None) -> int:
    """Return the resident memory of this process or another; 0 once that has ended."""
    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.NoSuchProcess:
        return 0
