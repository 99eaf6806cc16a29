"""Signals that end a command: Ctrl-C, SIGTERM, and a terminal that was closed.

All of them raise KeyboardInterrupt, so that the same code cleans up. The exit code is
that of the first. Those of SIGTERM and SIGHUP that follow are ignored: a closing
terminal sends several, and the clean-up must not be interrupted. A second Ctrl-C raises
again.
"""

from __future__ import annotations

import signal
from types import FrameType
from typing import Final

from oracle.cli.codes import HUNG_UP, INTERRUPTED, TERMINATED

_CODES: Final = {signal.SIGTERM: TERMINATED, signal.SIGHUP: HUNG_UP}
_came: Final[list[int]] = []


def raise_on_ending_signals() -> None:
    """Handle SIGTERM, and SIGHUP unless it is ignored, as with ``nohup``."""
    for number in _CODES:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _raise)


def code_of_interrupt() -> int:
    """Return the exit code after a KeyboardInterrupt."""
    return _CODES[signal.Signals(_came[0])] if _came else INTERRUPTED


def _raise(number: int, _frame: FrameType | None) -> None:
    _came.append(number)
    if len(_came) == 1:
        raise KeyboardInterrupt
