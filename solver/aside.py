"""Solvers in a thread of their own, so that a limit or Ctrl-C ends them."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import Final

from solver.limits import Limits

POLL_SECONDS: Final = 0.05
GRACE_SECONDS: Final = 0.5
"""How long a solver that was told to stop may take to do so."""


def ends(
    solve: Callable[[], object], stop: Callable[[], object], limits: Limits
) -> bool:
    """Solve in a thread; tell whether it ended, or had to be left behind."""
    thread = Thread(target=solve, daemon=True)
    thread.start()
    late = 0.0
    while thread.is_alive() and late < GRACE_SECONDS:
        thread.join(POLL_SECONDS)
        if thread.is_alive() and limits.struck() is not None:
            # Told again each time: the first may come before the search began.
            stop()
            late += POLL_SECONDS
    return not thread.is_alive()
