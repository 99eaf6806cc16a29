"""Wait for a condition: the limit only ends a test that would wait for ever."""

from __future__ import annotations

import time
from collections.abc import Callable


def wait_until(holds: Callable[[], bool], *, seconds: float = 60) -> None:
    """Return as soon as ``holds()``; fail if it never does."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)
