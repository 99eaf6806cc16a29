"""Compile the kernels at set-up, not in a user's first command.

They are stored next to the modules (`rebalance.kernel_cache`). One process per core
takes the tasks of `tools.kernel_tasks` in order; a kernel that another process has
compiled is loaded.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Final

PROCESSES_MAX: Final = 4
"""More processes compile the same parts of numba more often, 500 MB each."""


def compile_kernels(names: Sequence[str] = ()) -> None:
    """Run the tasks of these names, or every task, each in one of several processes."""
    processes = min(_cores(), PROCESSES_MAX)
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        *_, every = pool.map(_names, range(processes))  # starts all processes
        list(pool.map(_run, names or every))  # raises what a task raised


def _cores() -> int:
    usable = getattr(os, "sched_getaffinity", None)  # not on macOS
    return len(usable(0)) if usable else os.cpu_count() or 1


def _names(_process: int) -> list[str]:
    from tools.kernel_tasks import tasks

    return list(tasks())


def _run(name: str) -> None:
    from tools.kernel_tasks import tasks

    tasks()[name]()


if __name__ == "__main__":
    compile_kernels(sys.argv[1:])
