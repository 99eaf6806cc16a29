"""Fixtures of the command line's tests."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from tests.oracle.cli.commands import Cli


@pytest.fixture
def cli(capsysbinary: pytest.CaptureFixture[bytes]) -> Cli:
    return Cli(capsysbinary)


@pytest.fixture
def hangups() -> Iterator[None]:
    """Let processes end with their terminal, also where the tests run under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.fixture
def person(capsysbinary: pytest.CaptureFixture[bytes]) -> Cli:
    """Run as if standard output were a terminal of 300 columns."""
    return Cli(capsysbinary, columns=300)
