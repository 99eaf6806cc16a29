"""Memory that this process may use: of the machine, or of its control group.

A container's limit is that of a control group (Linux, versions 1 and 2), which the
machine's own figures do not show.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Final

GROUPS: Final = Path("/sys/fs/cgroup")
OF_PROCESS: Final = Path("/proc/self/cgroup")


def machine_memory() -> int:
    """Return the bytes of memory of the machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def available_memory(groups: Path = GROUPS, of_process: Path = OF_PROCESS) -> int:
    """Return the bytes of the machine, or the least limit of the control groups.

    ``of_process`` lists the groups of this process, which are folders of ``groups``.
    """
    limits = [machine_memory()]
    for file in _limit_files(groups, of_process):
        # Unreadable, or absent where the group is that of a container; "max": no limit.
        with suppress(OSError, ValueError):
            limits.append(int(file.read_text(encoding="ascii")))
    return min(limits)


def _limit_files(groups: Path, of_process: Path) -> Iterator[Path]:
    """Yield the files with the limits of the process's groups and of their parents."""
    lines: list[str] = []
    with suppress(OSError):
        lines = of_process.read_text(encoding="utf-8").splitlines()
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        top = groups / "memory" if controllers else groups
        name = "memory.limit_in_bytes" if controllers else "memory.max"
        below = PurePosixPath(path.lstrip("/"))
        for folder in (below, *below.parents):
            yield top / folder / name
