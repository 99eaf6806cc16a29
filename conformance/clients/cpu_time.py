"""CPU time of a program and of all processes below it, in clock ticks.

Ticks are integers, and the unit of the operating system: a hundredth of a second on
Linux. A child that has ended counts for the parent that has waited for it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import psutil

TICKS: Final = os.sysconf("SC_CLK_TCK")  # per second
_BUSY: Final = (psutil.STATUS_RUNNING, psutil.STATUS_DISK_SLEEP)


class Used(NamedTuple):
    """CPU time so far, and whether a thread runs or waits for a processor or a disk."""

    ticks: int
    is_busy: bool


class CpuClock:
    """The CPU time of a process tree; it never runs backwards."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._most = 0

    def used(self) -> Used:
        """Return the CPU time of the tree; if it has ended, the last one seen."""
        processes: list[psutil.Process] = []
        with suppress(psutil.Error):
            root = psutil.Process(self.pid)
            processes = [root, *root.children(recursive=True)]
        self._most = max(self._most, sum(map(_ticks, processes)))
        return Used(self._most, any(map(_is_busy, processes)))


def _ticks(process: psutil.Process) -> int:
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0
    ended = getattr(times, "children_user", 0) + getattr(times, "children_system", 0)
    return round((times.user + times.system + ended) * TICKS)


def _is_busy(process: psutil.Process) -> bool:
    """Look at each thread, where the system shows them: the first often only waits."""
    tasks = Path(f"/proc/{process.pid}/task")
    try:
        states = [
            stat.read_bytes().rpartition(b")")[2].split()[0]
            for stat in tasks.glob("*/stat")
        ]
    except (OSError, IndexError):  # it has ended meanwhile
        return False
    if states:
        return any(state in {b"R", b"D"} for state in states)
    try:
        return process.status() in _BUSY
    except psutil.Error:
        return False
