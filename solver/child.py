"""A child process that limits can end, and that does not outlive this one."""

from __future__ import annotations

import atexit
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from solver.limits import Limits, resident_bytes

FIRST_POLL: Final = 0.001
POLL: Final = 0.02
"""Seconds between two looks at the limits: few at first, most children being quick."""


@contextmanager
def ended(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Kill a process however this ends, and wait for it."""
    with process:
        atexit.register(process.kill)  # work in a thread does not see the end come
        try:
            yield
        finally:
            process.kill()
            atexit.unregister(process.kill)


def strikes(process: subprocess.Popen[bytes], limits: Limits) -> Iterator[str]:
    """Wait until a process ends by itself; at every look yield the limit that struck.

    Its memory counts with ours. Who asks decides whether to wait on.
    """
    pause = FIRST_POLL
    while process.poll() is None:
        struck = limits.struck(beside=resident_bytes(process.pid))
        if struck is not None:
            yield struck
        time.sleep(pause)
        pause = min(POLL, 2 * pause)
