"""CPU time and memory of a command and its subprocesses, by phase of the audit."""

from __future__ import annotations

import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final

import psutil

PHASES: Final = ("start", "reading", "judging", "writing", "page")
"""``start`` until the first message on standard error."""
_MESSAGES: Final = {
    "reading": "reading",
    "judging": "judging",
    "writing": "writing",
    "writing the page": "page",
}
_SECONDS_BETWEEN: Final = 0.25


@dataclass(slots=True)
class Usage:
    """Seconds by phase: wall time, and CPU time of Python and of Java.

    ``worker_bytes`` has, by phase, the largest resident set of a Python process other
    than the command itself.
    """

    wall: dict[str, float] = field(default_factory=dict)
    python: dict[str, float] = field(default_factory=dict)
    java: dict[str, float] = field(default_factory=dict)
    worker_bytes: dict[str, int] = field(default_factory=dict)


def measured(command: list[str]) -> Usage:
    """Run an audit and measure it.

    Raises
    ------
    CalledProcessError
        If it fails.
    """
    usage, phases = Usage(), ["start"]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None  # it is a pipe
        follow = threading.Thread(target=_follow, args=(process.stderr, phases))
        follow.start()
        seen: dict[tuple[int, float], float] = {}
        last = time.perf_counter()
        while process.poll() is None:
            time.sleep(_SECONDS_BETWEEN)
            now = time.perf_counter()
            phase = phases[-1]
            usage.wall[phase] = usage.wall.get(phase, 0.0) + now - last
            last = now
            _sample(process.pid, phase, seen, usage)
        follow.join()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return usage


def _follow(stream: IO[str], phases: list[str]) -> None:
    for line in stream:
        phase = _MESSAGES.get(line.strip().removeprefix("assignor-oracle: "))
        if phase is not None:
            phases.append(phase)


def _sample(
    pid: int, phase: str, seen: dict[tuple[int, float], float], usage: Usage
) -> None:
    """Add the CPU time since the last sample to the phase."""
    try:
        whole = psutil.Process(pid)
        found = [whole, *whole.children(recursive=True)]
    except psutil.NoSuchProcess:
        return
    for process in found:
        try:
            times, key = process.cpu_times(), (process.pid, process.create_time())
            # a child that Java is about to start bears the name of a thread of Java
            is_java = Path(process.exe()).name == "java"
            resident = process.memory_info().rss
        except psutil.Error:
            continue
        spent = times.user + times.system
        by_phase = usage.java if is_java else usage.python
        by_phase[phase] = by_phase.get(phase, 0.0) + spent - seen.get(key, 0.0)
        seen[key] = spent
        if not is_java and process.pid != pid:
            largest = usage.worker_bytes.get(phase, 0)
            usage.worker_bytes[phase] = max(largest, resident)
