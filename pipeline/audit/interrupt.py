"""Distinction between an interrupt and a failure of Spark.

Ctrl-C goes to Java too, and ends it. Where Python's own interrupt is raised in a place
that swallows exceptions, as in a finalizer, all that is left is that Java is gone.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupts_kept() -> Iterator[None]:
    """Raise an exception after an interrupt as that interrupt.

    The interrupt also has its usual effect. In a thread that receives no signals,
    errors stay as they are.

    Raises
    ------
    KeyboardInterrupt
        If there has been an interrupt when something is raised.
    """
    before = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    if not (is_main and callable(before)):
        yield
        return
    then, came = before, False

    def note(number: int, frame: FrameType | None) -> object:
        nonlocal came
        came = True
        return then(number, frame)

    signal.signal(signal.SIGINT, note)
    try:
        yield
    except Exception as error:
        if came:
            raise KeyboardInterrupt from error
        raise
    finally:
        signal.signal(signal.SIGINT, before)
