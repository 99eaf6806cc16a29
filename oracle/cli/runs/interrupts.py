"""Ctrl-C during a solve: the first ends the search, the second the program."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event
from types import FrameType
from typing import Final, Generic, TypeVar

from oracle.cli.printing.terminal import complain

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
    task = _ThreadTask(work)
    with _stop_on_interrupt(stop):
        threading.Thread(target=task.run, daemon=True).start()
        task.done.wait()
    return task.result()


class _ThreadTask(Generic[_T]):
    """Work in a thread, and its result or exception."""

    def __init__(self, work: Callable[[], _T]) -> None:
        self.work = work
        self.done = Event()
        self.results: list[_T] = []
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.results.append(self.work())
        except BaseException as error:  # noqa: BLE001 - raised again by `result`
            self.error = error
        finally:
            self.done.set()

    def result(self) -> _T:
        if self.error is not None:
            raise self.error
        return self.results[0]


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
