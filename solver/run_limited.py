"""Run work that a limit or Ctrl-C can end: in a thread, or in a child process."""

from __future__ import annotations

import atexit
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Final

from solver.limits import Limits, resident_bytes

THREAD_POLL_SECONDS: Final = 0.05
GRACE_SECONDS: Final = 0.5
"""Time that a solver gets to return after it was asked to stop."""

FIRST_POLL_SECONDS: Final = 0.001
PROCESS_POLL_SECONDS: Final = 0.02
"""Pauses between two checks of a child process: short at first, as most end early."""


def run_in_thread(
    solve: Callable[[], object], stop: Callable[[], object], limits: Limits
) -> bool:
    """Run a solver in a daemon thread; return whether it ended before it was abandoned.

    Once a limit is exceeded, ``stop`` is called at every check: the first call can come
    before the search has started, which then ignores it.
    """
    thread = Thread(target=solve, daemon=True)
    thread.start()
    waited = 0.0
    while thread.is_alive() and waited < GRACE_SECONDS:
        thread.join(THREAD_POLL_SECONDS)
        if thread.is_alive() and limits.exceeded() is not None:
            stop()
            waited += THREAD_POLL_SECONDS
    return not thread.is_alive()


@contextmanager
def killed_on_exit(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Kill a child process on leaving the context or this process, and wait for it."""
    with process:
        # A thread that waits for the child does not run when the interpreter exits.
        atexit.register(process.kill)
        try:
            yield
        finally:
            process.kill()
            atexit.unregister(process.kill)


def exceeded_limits(process: subprocess.Popen[bytes], limits: Limits) -> Iterator[str]:
    """Wait for a child process; yield the exceeded limit, if any, at every check.

    The child's resident memory counts towards the memory limit. The caller decides
    whether to wait on.
    """
    pause = FIRST_POLL_SECONDS
    while process.poll() is None:
        exceeded = limits.exceeded(beside=resident_bytes(process.pid))
        if exceeded is not None:
            yield exceeded
        time.sleep(pause)
        pause = min(PROCESS_POLL_SECONDS, 2 * pause)
