"""Exit codes."""

from typing import Final

FINE: Final = 0
NO: Final = 1
"""The answer is no: a verdict is invalid, or nothing meets a policy."""
USAGE: Final = 2
"""Bad usage, input that cannot be read, or a place that cannot be written to."""
OUTSIDE: Final = 3
"""A part that is not ours failed: Java, a broker, memory."""
FAULT: Final = 70
"""A fault of ours, as in ``sysexits.h``."""
INTERRUPTED: Final = 130
"""By Ctrl-C; what was found until then may have been written."""
READER_LEFT: Final = 141
TERMINATED: Final = 143
