"""A suppressed interrupt is still reported, and keeps its usual effect."""

from __future__ import annotations

import signal
import threading
from contextlib import suppress

import pytest

from pipeline.audit.interrupt import interrupts_kept


class Forgetful:
    """Is interrupted in its finalizer, where Python ignores what is raised."""

    def __del__(self) -> None:
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def lose_java() -> None:
    raise ConnectionError("Java is gone")


def be_interrupted_in_vain() -> None:
    Forgetful()
    lose_java()


def test_an_interrupt_is_raised() -> None:
    with pytest.raises(KeyboardInterrupt), interrupts_kept():
        signal.raise_signal(signal.SIGINT)


def test_a_swallowed_interrupt_is_raised_with_a_later_error() -> None:
    with pytest.raises(KeyboardInterrupt) as raised, interrupts_kept():
        be_interrupted_in_vain()
    assert isinstance(raised.value.__cause__, ConnectionError)


def test_without_an_interrupt_errors_are_unchanged() -> None:
    with pytest.raises(ConnectionError), interrupts_kept():
        lose_java()


def test_what_was_there_before_is_called_and_put_back() -> None:
    called = []
    before = signal.signal(signal.SIGINT, lambda number, _: called.append(number))
    try:
        ours = signal.getsignal(signal.SIGINT)
        with interrupts_kept():
            signal.raise_signal(signal.SIGINT)
        assert called == [signal.SIGINT]
        assert signal.getsignal(signal.SIGINT) is ours
    finally:
        signal.signal(signal.SIGINT, before)


def test_in_a_thread_errors_are_unchanged() -> None:
    told: list[BaseException] = []

    def run() -> None:
        try:
            with interrupts_kept():
                lose_java()
        except BaseException as error:  # noqa: BLE001  # told to the test
            told.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert [type(one) for one in told] == [ConnectionError]
