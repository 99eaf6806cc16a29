"""CPU seconds of whole commands: ``python -m benchmarks.command``.

Each is a process of its own: first small commands, whose time is that of starting; then
a document of 1,000,000 partitions, solved and judged. User time, median, after one run
that warms the caches.
"""

from __future__ import annotations

import json
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from benchmarks.documents import document

REPEATS: Final = 10
REPEATS_LARGE: Final = 3
TOPICS: Final = 1000
ORACLE: Final = ("-m", "oracle")

SMALL: Final[dict[str, Any]] = {
    "format": "rebalance/1",
    "group": "orders",
    "topics": {"t0": {"partitions": 4, "lag": [10, 20, 30, 40]}},
    "members": {
        "c0": {"subscription": ["t0"], "owned": {"t0": [0, 1, 2]}, "generation": 7},
        "c1": {"subscription": ["t0"]},
    },
}
ANSWER: Final = {
    "format": "assignment/1",
    "members": {"c0": {"t0": [0, 1]}, "c1": {"t0": [2, 3]}},
}


def main() -> None:
    """Print one line per command."""
    print(f"{platform.platform()}, Python {platform.python_version()}")
    with tempfile.TemporaryDirectory() as folder:
        small, answer = _written(folder, "s", SMALL), _written(folder, "a", ANSWER)
        large, found = _written(folder, "l", document(TOPICS)), Path(folder, "found")
        for repeats, name, command in (
            (REPEATS, "python itself", ("-c", "pass")),
            (REPEATS, "--help", (*ORACLE, "--help")),
            (REPEATS, "judge", (*ORACLE, "judge", small, answer)),
            (REPEATS, "solve", (*ORACLE, "solve", small)),
            (REPEATS, "compare", (*ORACLE, "compare", small)),
            (REPEATS_LARGE, "solve, 1,000,000 partitions",
             (*ORACLE, "solve", large, "-o", str(found))),
            (REPEATS_LARGE, "python -m verify, the same",
             ("-m", "verify", large, str(found))),
        ):  # fmt: skip
            seconds = statistics.median(user_seconds(command, repeats))
            print(f"{name:30}{seconds:8.2f} s", flush=True)


def user_seconds(arguments: tuple[str, ...], repeats: int) -> list[float]:
    """Return the user CPU seconds of each run but the first.

    Raises
    ------
    CalledProcessError
        If a run fails.
    """
    times = []
    for _ in range(repeats + 1):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        times.append(after - before)
    return times[1:]


def _written(folder: str, name: str, value: dict[str, Any]) -> str:
    path = Path(folder, name)
    path.write_text(json.dumps(value))
    return str(path)


if __name__ == "__main__":
    main()
