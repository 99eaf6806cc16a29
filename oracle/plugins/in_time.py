"""Run a function with a time limit."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import wait
from typing import TypeVar

from oracle.threads import in_thread

_T = TypeVar("_T")


def in_time(work: Callable[[], _T], *, seconds: float) -> _T:
    """Return the result of ``work``, or raise its exception, as an `Exception`.

    It runs in a thread, which is abandoned when the time limit is reached.

    Raises
    ------
    TimeoutError
        If it has not returned within the time limit.
    """
    found = in_thread(work)
    if not wait([found], timeout=seconds).done:
        raise TimeoutError(f"not done in {seconds:g} s")
    error = found.exception()
    if error is not None and not isinstance(error, Exception):
        raise RuntimeError(repr(error)) from error  # it would end a process
    return found.result()
