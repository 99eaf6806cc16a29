"""A function in a thread of its own, which does not keep the process alive."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

_T = TypeVar("_T")


def in_thread(work: Callable[[], _T]) -> Future[_T]:
    """Start ``work``; return its result or exception, of any kind, once it is there."""
    found: Future[_T] = Future()

    def run() -> None:
        try:
            found.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised to whoever waits
            found.set_exception(error)

    Thread(target=run, daemon=True).start()
    return found
