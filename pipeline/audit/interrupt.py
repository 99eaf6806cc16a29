"""Distinction between the end by a signal and a failure of Spark.

Ctrl-C, a closed terminal, and often SIGTERM also end the Java process. If Python raises
KeyboardInterrupt where exceptions are suppressed, such as in a finalizer, only the
failure of Java is visible.
"""

from __future__ import annotations

import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final

from pyspark import SparkContext

_SECONDS_TO_END: Final = 10

_ENDING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


Handler = Callable[[int, FrameType | None], object]


@contextmanager
def interrupts_kept() -> Iterator[None]:
    """Convert an exception that follows an ending signal into KeyboardInterrupt.

    The signals keep their usual effect. In a thread that receives no signals, errors
    are not converted.

    Raises
    ------
    KeyboardInterrupt
        If an exception is raised after such a signal.
    """
    came: list[int] = []

    def note(number: int, frame: FrameType | None, then: Handler) -> None:
        came.append(number)
        then(number, frame)

    try:
        with _handled(note):
            yield
    except Exception as error:
        if came:
            raise KeyboardInterrupt from error
        raise


@contextmanager
def signals_deferred() -> Iterator[None]:
    """Defer the first ending signal until the block has ended.

    While Java is started, PySpark does not tell which process it is, so that it could
    not be ended.
    """
    came: list[tuple[int, Handler]] = []

    def defer(number: int, frame: FrameType | None, then: Handler) -> None:
        came.append((number, then))
        if len(came) > 1:
            then(number, frame)

    try:
        with _handled(defer):
            yield
    finally:
        if came:
            number, then = came[0]
            then(number, None)


@contextmanager
def _handled(
    handle: Callable[[int, FrameType | None, Handler], None],
) -> Iterator[None]:
    """Pass ending signals to ``handle``, with the handler that they have otherwise.

    Only the main thread receives signals; those that are ignored stay so.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _ENDING}

    def handler(then: Handler) -> Handler:
        return lambda number, frame: handle(number, frame, then)

    for number, then in before.items():
        if callable(then):
            signal.signal(number, handler(then))
    try:
        yield
    finally:
        for number, then in before.items():
            if callable(then):
                signal.signal(number, then)


@contextmanager
def java_ended() -> Iterator[None]:
    """End the Java process that was started, if the block is interrupted.

    It ends by itself when its standard input is closed, unless it is being shut down
    and waits for something; then it is killed, so that none is left behind.
    """
    try:
        yield
    except KeyboardInterrupt:
        _end_java()
        raise


def _end_java() -> None:
    gateway = SparkContext._gateway  # PySpark has no other name for it
    process = getattr(gateway, "proc", None)
    if not isinstance(process, subprocess.Popen):
        return
    with suppress(OSError):
        if process.stdin is not None:
            process.stdin.close()
    try:
        process.wait(_SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
