"""Distribute work over processes, each with a subject of its own; results in order.

The results do not depend on the number of workers, except those of subjects that
remember earlier rebalances.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    Future,
    ProcessPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from types import FrameType
from typing import Any, Final, NoReturn, Protocol, TypeVar

from conformance.clients import Answer
from conformance.runs.subject import Subject
from rebalance import OutsideError

AHEAD: Final = 4  # tasks per worker that wait to be run
AGAIN: Final = 0.5  # seconds until a worker that ignored its termination is told again

_T = TypeVar("_T")
_R = TypeVar("_R")


class Startable(Protocol):
    """A value from which a process starts its subject; it has to be picklable."""

    def start(self) -> Subject:
        """Return a new subject."""
        ...


class NoSubject:
    """The processes that start if every task has a subject of its own."""

    name = "none"

    def start(self) -> Subject:
        """Return this value."""
        return self

    def answer(self, rebalance: bytes) -> Answer:
        """Do not answer: no task asks it."""
        raise NotImplementedError

    def cut(self) -> None:
        """Do nothing: no task has a deadline."""

    def close(self) -> None:
        """Do nothing: tasks end the processes that they start."""


def in_workers(
    source: Startable,
    work: Callable[[Subject, _T], _R],
    tasks: Iterable[_T],
    *,
    workers: int,
) -> Generator[_R, None, None]:
    """Yield the result of each task, in the order of the tasks (see `in_turns`)."""
    left = iter(tasks)
    yield from in_turns(source, work, lambda: next(left, None), workers=workers)


def in_turns(
    source: Startable,
    work: Callable[[Subject, _T], _R],
    task: Callable[[], _T | None],
    *,
    workers: int,
    ordered: bool = True,
) -> Generator[_R, None, None]:
    """Yield the results of tasks in their order; a result can lead to another task.

    Unless they are to be ordered: then each is yielded when it is there, and a task
    that takes long leaves no other worker without work.

    ``task`` returns the next one, or None if there is none now: it is asked again after
    each result, until there is none, and no result to wait for. Close the generator if
    it is left early, for example by an interrupt: that ends the workers.

    With one worker, everything runs in this process. ``work`` is a function of a
    module, so that it can be sent to other processes.

    Raises
    ------
    OutsideError
        If a worker dies, for lack of memory for example.
    """
    if workers == 1:
        with closing(source.start()) as subject:
            while (one := task()) is not None:
                yield work(subject, one)
        return
    try:
        yield from _in_pool(source, work, task, workers, ordered=ordered)
    except BrokenProcessPool:
        raise OutsideError("a worker of the run ended unexpectedly") from None
    except BaseException:
        for child in multiprocessing.active_children():
            child.terminate()
        raise


def _in_pool(
    source: Startable,
    work: Callable[[Subject, _T], _R],
    task: Callable[[], _T | None],
    workers: int,
    *,
    ordered: bool,
) -> Iterator[_R]:
    pool = ProcessPoolExecutor(
        max_workers=workers,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_begin,
        initargs=(source,),
    )
    waiting: deque[Future[_R]] = deque()
    try:
        with _interrupts_ignored():
            pool.submit(_start_workers)  # all of them: they are spawned, not forked
        while True:
            while len(waiting) < AHEAD * workers and (one := task()) is not None:
                waiting.append(pool.submit(_work, work, one))
            if not waiting:
                return
            yield _taken(waiting, ordered=ordered).result()
    finally:
        pool.shutdown(wait=not waiting, cancel_futures=True)


def _taken(waiting: deque[Future[_R]], *, ordered: bool) -> Future[_R]:
    """Take the first, or the first that is done."""
    if ordered:
        return waiting.popleft()
    done, _ = wait(waiting, return_when=FIRST_COMPLETED)
    first = next(future for future in waiting if future in done)
    waiting.remove(first)
    return first


_SUBJECT: list[Subject] = []  # of this worker
_BUSY = threading.Event()
"""Set while the worker is in code of its subject, which may hold locks."""


class _TerminatedError(BaseException):
    """The worker is to end."""


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Let processes that are started meanwhile ignore Ctrl-C from their first line."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _start_workers() -> None:
    """Do nothing: the first task starts the workers."""


def _begin(source: Startable) -> None:
    """Start the subject of a worker, and end it with the worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its workers
    signal.signal(signal.SIGTERM, _terminated)
    sys.unraisablehook = _unraisable
    _unless_terminated(lambda: _SUBJECT.append(source.start()))
    multiprocessing.util.Finalize(None, _SUBJECT[0].close, exitpriority=1)


def _work(work: Callable[[Subject, Any], _R], task: Any) -> _R:
    return _unless_terminated(lambda: work(_SUBJECT[0], task))


def _unless_terminated(call: Callable[[], _R]) -> _R:
    """Return the result of ``call``; end the process if it is terminated meanwhile."""
    try:
        try:
            _BUSY.set()
            return call()
        finally:
            _BUSY.clear()
    except _TerminatedError:
        _end()


def _terminated(_signal: int, _frame: FrameType | None) -> None:
    """End now, or leave the subject's code first: closing could wait for its locks."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough
    if not _BUSY.is_set():
        _end()
    signal.signal(signal.SIGALRM, _leave)
    signal.setitimer(signal.ITIMER_REAL, AGAIN, AGAIN)
    raise _TerminatedError


def _leave(_signal: int, _frame: FrameType | None) -> None:
    """Leave the subject's code; a destructor swallowed the exception before."""
    if _BUSY.is_set():
        raise _TerminatedError


def _unraisable(ignored: sys.UnraisableHookArgs) -> None:
    """Print errors that destructors or callbacks swallowed, unless they will recur."""
    if ignored.exc_type is not _TerminatedError:
        sys.__unraisablehook__(ignored)


def _end() -> NoReturn:
    signal.setitimer(signal.ITIMER_REAL, 0)
    try:
        for subject in _SUBJECT:
            subject.close()
    finally:
        os._exit(1)
