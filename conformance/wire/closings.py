"""Why the coordinator has closed connections: a line for each, and for the outcome.

A broker closes a connection without a word, and a client then connects again and again.
So each reason is reported once, and a bounded number of them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Final

MOST_REPORTED: Final = 20  # different reasons per coordinator
LONGEST: Final = 400  # characters of a reason, parts of which a peer can choose


def to_standard_error(line: str) -> None:
    """Write a line for the user."""
    print(line, file=sys.stderr, flush=True)


class Closings:
    """The connections that the coordinator has closed, and other reports of it.

    Parameters
    ----------
    report : callable
        Receives one line per reason that is new.
    """

    def __init__(self, report: Callable[[str], None] = to_standard_error) -> None:
        self.count = 0
        self._report = report
        self._reported: set[str] = set()
        self._last = ""

    def note(self, reason: str) -> str:
        """Report a reason if it is new; return it as one line of printable text."""
        line = _printable(reason)
        self._last = line
        self.count += 1
        self.report(f"closed a connection: {line}")
        return line

    def report(self, line: str) -> None:
        """Report a line if it is new."""
        if line not in self._reported and len(self._reported) < MOST_REPORTED:
            self._reported.add(line)
            self._report(f"wire: {line}")
            if len(self._reported) == MOST_REPORTED:
                self._report("wire: further reasons are not reported")

    def since(self, count: int) -> str:
        """Return the last reason after so many connections; empty if there is none."""
        return self._last if self.count > count else ""


def _printable(reason: str) -> str:
    words = "".join(c if c.isprintable() else " " for c in reason).split()
    line = " ".join(words)
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
