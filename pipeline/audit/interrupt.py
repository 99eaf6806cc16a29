"""Distinction between an interrupt and a failure of Spark.

Ctrl-C also ends the Java process. If Python raises KeyboardInterrupt where exceptions
are suppressed, such as in a finalizer, only the failure of Java is visible.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupts_kept() -> Iterator[None]:
    """Convert an exception that follows an interrupt into KeyboardInterrupt.

    The interrupt keeps its usual effect. In a thread that receives no signals, errors
    are not converted.

    Raises
    ------
    KeyboardInterrupt
        If an exception is raised after an interrupt.
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
