"""Kill a process before any of its changes of files."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Callable
from typing import Any, Final

CHANGES: Final = frozenset(
    {"open", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.truncate"}
)
"""Events of Python before a change of files; each is a moment of a kill."""


def killed_at(change: int, run: Callable[[], object]) -> bool:
    """Run in a process that kills itself before a change; return whether it did."""
    with warnings.catch_warnings():  # threads of libraries are not used there
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        assert status in (0, signal.SIGKILL), status
        return status != 0
    seen = 0

    def kill(event: str, given: tuple[Any, ...]) -> None:
        nonlocal seen
        is_reading = event == "open" and not given[2] & (os.O_WRONLY | os.O_RDWR)
        if event in CHANGES and not is_reading:
            seen += 1
            if seen == change:
                os.kill(os.getpid(), signal.SIGKILL)

    try:
        sys.addaudithook(kill)
        run()
        os._exit(0)
    finally:
        os._exit(1)
