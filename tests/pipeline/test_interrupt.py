"""Signals that end an audit, while Java is started and after."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from types import FrameType

import pytest

from pipeline.audit.interrupt import interrupts_kept, signals_deferred

ENDING = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


class EndedError(Exception):
    """What the handler of the command raises."""


@pytest.fixture(autouse=True)
def handled() -> Iterator[None]:
    """Handle the signals as the command line does, and restore what was before."""

    def end(_number: int, _frame: FrameType | None) -> None:
        raise EndedError

    before = [signal.signal(number, end) for number in ENDING]
    yield
    for number, then in zip(ENDING, before, strict=True):
        signal.signal(number, then)


@pytest.mark.parametrize("number", ENDING)
def test_an_error_after_a_signal_is_an_interrupt(number: signal.Signals) -> None:
    def fail() -> None:
        try:
            signal.raise_signal(number)
        except EndedError:
            raise OSError("Java is gone") from None

    with pytest.raises(KeyboardInterrupt), interrupts_kept():
        fail()
    with pytest.raises(OSError, match="of its own"), interrupts_kept():
        raise OSError("of its own")


@pytest.mark.parametrize("number", ENDING)
def test_a_signal_waits_until_java_has_started(number: signal.Signals) -> None:
    done = []

    def start() -> None:
        signal.raise_signal(number)
        done.append("started")

    with pytest.raises(EndedError), signals_deferred():
        start()
    assert done == ["started"]
    with pytest.raises(EndedError):
        signal.raise_signal(number)


def test_a_second_signal_does_not_wait() -> None:
    done = []

    def start() -> None:
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGINT)
        done.append("started")

    with pytest.raises(EndedError), signals_deferred():
        start()
    assert done == []
