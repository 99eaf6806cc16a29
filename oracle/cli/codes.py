"""Exit codes."""

from typing import Final

FINE: Final = 0
NO: Final = 1
"""Negative result: a verdict is invalid, no assignment meets a policy, or an audit
meets a condition of ``--fail-on``, which counts before `LOST`."""
USAGE: Final = 2
"""Usage error, unreadable input, or a path that cannot be read or written."""
OUTSIDE: Final = 3
"""Failure of an external component: Java, a broker, memory, a disk, a file system."""
LOST: Final = 4
"""Part of the input was lost: damaged, or cut off; the rest was answered."""
FAULT: Final = 70
"""A defect of this program, as in ``sysexits.h``."""
INTERRUPTED: Final = 130
"""By Ctrl-C; results found until then may have been written."""
HUNG_UP: Final = 129
"""By a terminal that was closed."""
READER_LEFT: Final = 141
TERMINATED: Final = 143
