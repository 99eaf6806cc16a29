"""Compile the kernels at set-up, not in a user's first command.

numba stores compiled kernels next to the modules. One process per core takes the tasks
of `tools.kernel_tasks` in order; a kernel that another process has compiled is loaded.
"""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import wraps
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

PROCESSES_MAX: Final = 4
"""More processes compile the same parts of numba more often, 500 MB each."""


def compile_kernels(names: Sequence[str] = ()) -> None:
    """Run the tasks of these names, or every task, each in one of several processes."""
    processes = min(_cores(), PROCESSES_MAX)
    with ProcessPoolExecutor(processes, get_context("spawn"), take_turns) as pool:
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


def take_turns() -> None:
    """Let one process at a time write to numba's cache, and none read meanwhile.

    numba reads the index of a kernel, adds a signature, and writes it with the name of
    a data file; two processes could give one name to two signatures. The lock is on
    this file, so that it also holds against an earlier run that has not ended.
    """
    from numba.core.caching import IndexDataCacheFile

    for name, lock in (("save", fcntl.LOCK_EX), ("load", fcntl.LOCK_SH)):
        setattr(
            IndexDataCacheFile, name, _locked(getattr(IndexDataCacheFile, name), lock)
        )


def _locked(method: Callable[..., Any], lock: int) -> Callable[..., Any]:
    @wraps(method)
    def call(*arguments: Any) -> Any:
        with Path(__file__).open("rb") as held:
            fcntl.flock(held, lock)
            return method(*arguments)

    return call


if __name__ == "__main__":
    compile_kernels(sys.argv[1:])
