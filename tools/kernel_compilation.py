"""Compile the kernels at set-up, not in a user's first command.

They are stored next to the modules (`rebalance.kernel_cache`). One process per core
takes the tasks of `tools.kernel_tasks` in order; a kernel that another process has
compiled is loaded.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Final

PACKAGES: Final = ("solver", "heuristics", "pipeline")
MARKS: Final = (
    b"njit",
    b"@kernel",
    b"@borrowing_kernel",
    b"@inlined_kernel",
    b"@always_compiled",
)
"""Of sources with kernels; the decorator itself is in `rebalance`."""

PROCESSES_MAX: Final = 4
"""More processes compile the same parts of numba more often, 500 MB each."""


def digest_of_kernels(root: Path) -> bytes:
    """Return a digest of the inputs of compiled kernels: sources and compiler."""
    lock = root / "requirements" / "kernel-packages.lock"
    digest = hashlib.sha256(lock.read_bytes())
    for package in (*PACKAGES, "rebalance"):
        for path in sorted((root / package).rglob("*.py")):
            text = path.read_bytes()
            if any(mark in text for mark in MARKS):
                digest.update(hashlib.sha256(text).digest())
    return digest.digest()


def remove_kernels(root: Path) -> None:
    """Remove compiled kernels before they are compiled again.

    numba detects neither a change in a kernel that another one calls, nor a renamed
    module whose types it saved.
    """
    for package in PACKAGES:
        for compiled in (root / package).rglob("__pycache__/*.nb[ci]"):
            compiled.unlink(missing_ok=True)


def compile_kernels(names: Sequence[str] = ()) -> None:
    """Run the tasks of these names, or every task, each in one of several processes."""
    processes = min(_cores(), PROCESSES_MAX)
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        *_, every = pool.map(_names, range(processes))  # starts all processes
        list(pool.map(_run, names or every))  # raises the exception of a task


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
