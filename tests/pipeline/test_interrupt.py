"""An interrupt is noted even where it is swallowed, and does what it did before."""

from __future__ import annotations

import signal
import threading
from contextlib import suppress

import pytest

from pipeline.interrupt import interrupts_noted


def test_an_interrupt_is_raised_and_noted() -> None:
    with interrupts_noted() as interrupted:
        assert not interrupted()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        assert interrupted()


class Forgetful:
    """Raises in its finalizer, where Python ignores it."""

    def __del__(self) -> None:
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_one_that_is_swallowed_is_noted() -> None:
    with interrupts_noted() as interrupted:
        Forgetful()
        assert interrupted()


def test_what_was_there_before_is_called_and_put_back() -> None:
    called = []
    before = signal.signal(signal.SIGINT, lambda number, _: called.append(number))
    try:
        ours = signal.getsignal(signal.SIGINT)
        with interrupts_noted() as interrupted:
            signal.raise_signal(signal.SIGINT)
            assert interrupted()
        assert called == [signal.SIGINT]
        assert signal.getsignal(signal.SIGINT) is ours
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_thread_hears_none() -> None:
    told = []

    def run() -> None:
        with interrupts_noted() as interrupted:
            told.append(interrupted())

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert told == [False]
