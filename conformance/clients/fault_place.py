"""Where a program failed, as far as its last words say.

Adapters in Python, Java, and JavaScript state the place of an error themselves. Of a
process that ended, only its output is known: Go writes the stack of a panic, and C the
place of an assertion.
"""

from __future__ import annotations

import re
from typing import Final

MOST: Final = 200
"""Characters of a place."""

_ASSERTION: Final = re.compile(r"([\w.+-]+\.(?:c|cc|cpp|h)):(\d+): (\w+): Assertion")
_RUNNING: Final = re.compile(r"^goroutine \d+ \[running\]:$", re.MULTILINE)
_FRAME: Final = re.compile(r"^(?!\s)(\S+)\(.*\)\n\t(\S+):(\d+)", re.MULTILINE)
_OF_RUNTIME: Final = ("panic", "runtime.", "main.", "created by ")


def place_of_death(said: str) -> str | None:
    """Return the place in the words of a process that ended; None if there is none.

    Of a Go panic, it is the first frame that is neither of the runtime nor of the
    adapter; without file names, because those are paths of a machine.
    """
    assertion = _ASSERTION.search(said)
    if assertion is not None:
        file, line, function = assertion.groups()
        return f"{function} ({file}:{line})"[:MOST]
    running = _RUNNING.search(said)
    if running is None:
        return None
    for frame in _FRAME.finditer(said, running.end()):
        function, path, line = frame.groups()
        if not function.startswith(_OF_RUNTIME):
            return f"{function} ({path.rpartition('/')[2]}:{line})"[:MOST]
    return None
