"""Pytest plugin: write how long each test took, in wall and in CPU time.

``--write-durations FILE`` writes one line per test, slowest first: seconds, seconds of
CPU (its child processes included once they have ended), worker, and name. A failure is
appended to ``FILE.failed`` at once: a long run states it an hour later. The summary
states the CPU time of the whole run, which other load on the machine changes less than
the wall time, and lists each test above `LONG` seconds that does not state its minutes.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

LONG: Final = 60.0
"""Seconds; a longer test begins early if its marker states ``minutes``."""

LONGEST_NAME: Final = 200

_CPU: Final = "cpu_seconds"
_NAME: Final = "name"
_STATED: Final = "states_minutes"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("durations")
    group.addoption(
        "--write-durations", metavar="FILE", type=Path, help="write one line per test"
    )


def cpu_seconds() -> float:
    """Return the CPU time of this process and of its children that have ended."""
    own, others = map(
        resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def pytest_configure(config: pytest.Config) -> None:
    file = config.getoption("--write-durations")
    if file is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Durations(file), "written-durations")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Measure the CPU time of a test with its fixtures."""
    item.user_properties.append((_STATED, _states_minutes(item)))
    item.user_properties.append((_NAME, _without_group(item)))
    before = cpu_seconds()
    item.config.stash[_BEFORE] = before
    return (yield)


_BEFORE = pytest.StashKey[float]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Iterator[None]:
    """Report the CPU time at the end of the last phase."""
    if call.when == "teardown":
        used = cpu_seconds() - item.config.stash[_BEFORE]
        item.user_properties.append((_CPU, round(used, 3)))
    return (yield)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Pass on the CPU time of a process that ran tests."""
    output: Any = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[_CPU] = cpu_seconds()


def _without_group(item: pytest.Item) -> str:
    """Return the name of a test without the group that xdist appends."""
    groups = [mark.args[0] for mark in item.iter_markers("xdist_group")]
    return item.nodeid.removesuffix(f"@{groups[0]}" if groups else "")


def _states_minutes(item: pytest.Item) -> bool:
    marks = (m for name in ("heavy", "nightly") for m in item.iter_markers(name))
    return any("minutes" in mark.kwargs for mark in marks)


class _Durations:
    """Gathers durations in the process that distributes tests, or runs them all."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._failed = file.with_name(f"{file.name}.failed")
        self._failed.unlink(missing_ok=True)
        self._began = time.monotonic()
        self._of_workers = 0.0
        self._processes = 0
        self._seconds: dict[str, float] = {}
        self._cpu: dict[str, float] = {}
        self._worker: dict[str, str] = {}
        self._stated: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        properties = dict(report.user_properties)
        name = str(properties.get(_NAME, report.nodeid))
        self._seconds[name] = self._seconds.get(name, 0.0) + report.duration
        self._worker[name] = getattr(report, "worker_id", "master")
        if properties.get(_STATED):
            self._stated.add(name)
        if report.failed:
            self._write_failure(name, report)
        if report.when == "teardown":
            self._cpu[name] = float(str(properties.get(_CPU, 0.0)))

    def _write_failure(self, name: str, report: pytest.TestReport) -> None:
        self._failed.parent.mkdir(parents=True, exist_ok=True)
        with self._failed.open("a", encoding="utf-8") as file:
            file.write(f"{name} ({report.when})\n{report.longreprtext}\n\n")

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self._of_workers += getattr(node, "workeroutput", {}).get(_CPU, 0.0)
        self._processes += 1

    def lines(self) -> Iterator[str]:
        """Yield one line per test, slowest first."""
        yield "seconds\tcpu\tworker\ttest"
        for name in sorted(self._seconds, key=lambda name: -self._seconds[name]):
            cpu, worker = self._cpu.get(name, 0.0), self._worker[name]
            shown = name[:LONGEST_NAME]  # some parameters are whole documents
            yield f"{self._seconds[name]:.2f}\t{cpu:.2f}\t{worker}\t{shown}"

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter
    ) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_text("\n".join(self.lines()) + "\n", encoding="utf-8")
        long = [
            f"{name}: {seconds:.0f} s, marked without minutes"
            for name, seconds in self._seconds.items()
            if seconds > LONG and name not in self._stated
        ]
        wall = time.monotonic() - self._began
        cpu = cpu_seconds() if not self._processes else self._of_workers
        terminalreporter.section("durations")
        for line in long:
            terminalreporter.line(line)
        terminalreporter.line(
            f"{wall / 60:.1f} min, {cpu / 60:.1f} min of CPU in "
            f"{max(1, self._processes)} processes and what they started, load "
            f"{os.getloadavg()[0]:.1f}; per test: {self._file}"
        )
