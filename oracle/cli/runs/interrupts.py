"""Ctrl-C during a solve: the first ends the search, the second the program."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event
from types import FrameType
from typing import Final, TypeVar

from oracle.cli.printing.terminal import complain
from oracle.threads import in_thread

INTERRUPTED: Final = (
    "interrupted: writing the best found so far; Ctrl-C again exits at once"
)

_T = TypeVar("_T")


def run_stoppable(work: Callable[[], _T], stop: Event) -> _T:
    """Run ``work``; Ctrl-C sets ``stop``, and a second one raises KeyboardInterrupt.

    The work runs in a thread: while a library computes in the main thread, Python does
    not receive signals.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    with _stop_on_interrupt(stop):
        return in_thread(work).result()


@contextmanager
def _stop_on_interrupt(stop: Event) -> Iterator[None]:
    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()
        complain(INTERRUPTED)

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
