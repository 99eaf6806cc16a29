"""Pytest plugin: how many processes run the tests, and which tests begin.

One process per core runs the quick tests. Many slow ones mostly wait (for a broker, for
Spark to start, for a client's next poll), so that there is one process more with them,
and what takes longest begins: nothing long is left for the end.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

MOST = 4
"""Processes; each may start a Spark of its own."""


@pytest.hookimpl(tryfirst=True)  # xdist's own is registered later, so asked earlier
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return the number of processes for ``-n logical``."""
    usable = getattr(os, "sched_getaffinity", None)  # not on macOS
    cores: int = len(usable(0)) if usable else os.cpu_count() or 1
    has_slow: bool = config.getoption("markexpr") != "not slow"
    return min(cores + has_slow, MOST)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort modules by the minutes of their slowest test; keep the order within each.

    The marker ``slow`` states them as ``minutes``. Processes receive equal parts of the
    list in this order, and then take over what others have not begun, from the end.
    """
    minutes = minutes_of(items)
    items.sort(key=lambda item: -minutes[item.path])


def minutes_of(items: Iterable[pytest.Item]) -> dict[Path, float]:
    """Return the most minutes of a module's tests: 0.1 for a slow one, 0 for others."""
    most: dict[Path, float] = {}
    for item in items:
        marks = [mark.kwargs.get("minutes", 0.1) for mark in item.iter_markers("slow")]
        most[item.path] = max([most.get(item.path, 0.0), *marks])
    return most
