"""Tell an interrupt from a failure of Spark.

Ctrl-C goes to Java too, and ends it. Where Python's own interrupt is raised in a place
that swallows exceptions, as in a finalizer, all that is left is that Java is gone.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupts_noted() -> Iterator[Callable[[], bool]]:
    """Yield what tells whether an interrupt has come since.

    Interrupts do what they did before besides. In a thread that hears no signals none
    is ever noted.
    """
    came = threading.Event()
    before = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    if not (is_main and callable(before)):
        yield came.is_set
        return
    then = before

    def note(number: int, frame: FrameType | None) -> object:
        came.set()
        return then(number, frame)

    signal.signal(signal.SIGINT, note)
    try:
        yield came.is_set
    finally:
        signal.signal(signal.SIGINT, before)
