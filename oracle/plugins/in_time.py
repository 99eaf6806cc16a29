"""Run a function with a time limit."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from queue import Empty, SimpleQueue
from threading import Thread
from typing import NoReturn, TypeVar

_T = TypeVar("_T")


def in_time(work: Callable[[], _T], *, seconds: float) -> _T:
    """Return the result of ``work``, or raise its exception, as an `Exception`.

    It runs in a thread, which is abandoned when the time limit is reached.

    Raises
    ------
    TimeoutError
        If it has not returned within the time limit.
    """
    done: SimpleQueue[Callable[[], _T]] = SimpleQueue()

    def run() -> None:
        try:
            found = work()
        except BaseException as error:  # noqa: BLE001  # raised in the waiting thread
            done.put(partial(_fail, error))
        else:
            done.put(lambda: found)

    Thread(target=run, daemon=True, name="assignor").start()
    try:
        return done.get(timeout=seconds)()
    except Empty:
        raise TimeoutError(f"not done in {seconds:g} s") from None


def _fail(error: BaseException) -> NoReturn:
    """Raise the error as an `Exception`, even if it would end a thread or a process."""
    if isinstance(error, Exception):
        raise error
    raise RuntimeError(repr(error)) from error
