"""Distinction between the end by a signal and a failure of Spark.

Ctrl-C, a closed terminal, and often SIGTERM also end the Java process. If Python raises
KeyboardInterrupt where exceptions are suppressed, such as in a finalizer, only the
failure of Java is visible.
"""

from __future__ import annotations

import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, Final

from pyspark import SparkContext

_SECONDS_TO_END: Final = 10

_ENDING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


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
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _ENDING}
    came = False

    def noting(then: Any) -> Any:
        def note(number: int, frame: FrameType | None) -> object:
            nonlocal came
            came = True
            return then(number, frame)

        return note

    for number, then in before.items():
        if callable(then):
            signal.signal(number, noting(then))
    try:
        yield
    except Exception as error:
        if came:
            raise KeyboardInterrupt from error
        raise
    finally:
        for number, then in before.items():
            if callable(then):
                signal.signal(number, then)


@contextmanager
def signals_deferred() -> Iterator[None]:
    """Defer the first ending signal until the block has ended.

    While Java is started, PySpark does not tell which process it is, so that it could
    not be ended.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _ENDING}
    came: list[int] = []

    def defer(number: int, frame: FrameType | None) -> None:
        came.append(number)
        then = before[signal.Signals(number)]
        if len(came) > 1 and callable(then):
            then(number, frame)

    for number, then in before.items():
        if callable(then):
            signal.signal(number, defer)
    try:
        yield
    finally:
        for number, then in before.items():
            if callable(then):
                signal.signal(number, then)
        if came and callable(then := before[signal.Signals(came[0])]):
            then(came[0], None)


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
