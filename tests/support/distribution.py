"""Pytest plugin: how many processes run the tests, and which test runs where.

One process per core runs the quick tests. Many heavy ones mostly wait (for a broker,
for Spark to start, for a client's next poll), so that there is one process more with
them, and the longest begin: nothing long is left for the end.

With ``--dist loadgroup``, tests that share a fixture wider than one test are a group,
which one process runs: no fixture is built twice. The tests of Spark's session and of
the broker (`SHARED`) are one group each, whatever their modules: a run starts one
session and one broker for them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

MOST: Final = 4
"""Processes; each may start a Spark of its own."""

SHARED: Final = ("spark", "broker")
"""Session fixtures of `tests.conftest`; who uses both is in the group of the last."""

OURS = "tests."
"""Start of the names of modules whose fixtures count; plugins have wide ones, too."""

QUICK: Final = "not heavy and not nightly"
"""The marks of the quick tests, as `make test` selects them."""


@pytest.hookimpl(tryfirst=True)  # xdist's own is registered later, so asked earlier
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return the number of processes for ``-n logical``."""
    usable = getattr(os, "sched_getaffinity", None)  # not on macOS
    cores: int = len(usable(0)) if usable else os.cpu_count() or 1
    has_heavy: bool = config.getoption("markexpr") != QUICK
    return min(cores + has_heavy, MOST)


@pytest.hookimpl(wrapper=True, tryfirst=True)  # before xdist, which reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Name groups, and sort them by the minutes of their longest test.

    The markers ``heavy`` and ``nightly`` state them as ``minutes``. Tests keep their
    order within a module. Processes receive the list in this order, group by group.
    """
    for item, group in zip(items, groups_of(items), strict=True):
        if group is not None:
            item.add_marker(pytest.mark.xdist_group(group))
    yield
    minutes = minutes_of(items)
    items.sort(key=lambda item: -minutes[item.path])


def groups_of(items: Sequence[pytest.Item]) -> list[str | None]:
    """Return the group of each test: a shared fixture's, its module's, or None.

    A module of which one test is in the group of a shared fixture is in it as a whole,
    but for tests without wide fixtures, which are on their own.
    """
    shared: dict[Path, str] = {}
    for item in items:
        for name in SHARED:
            if name in getattr(item, "fixturenames", ()) and _is_session(item, name):
                shared[item.path] = name
    return [
        shared.get(item.path, item.path.stem) if _has_wide_fixture(item) else None
        for item in items
    ]


def _has_wide_fixture(item: pytest.Item) -> bool:
    return any(definition.scope != "function" for definition in _definitions(item))


def _is_session(item: pytest.Item, name: str) -> bool:
    return any(
        definition.argname == name and definition.scope == "session"
        for definition in _definitions(item)
    )


def _definitions(item: pytest.Item) -> Iterator[Any]:
    """Yield the definitions of a test's fixtures that this project makes."""
    info = getattr(item, "_fixtureinfo", None)
    for definitions in getattr(info, "name2fixturedefs", {}).values():
        for definition in definitions[-1:]:
            if definition.func.__module__.startswith(OURS):
                yield definition


def minutes_of(items: Iterable[pytest.Item]) -> dict[Path, float]:
    """Return the most minutes of a module's tests: 0.1 if heavy, 0 for others."""
    most: dict[Path, float] = {}
    for item in items:
        marks = [
            mark.kwargs.get("minutes", 0.1)
            for name in ("heavy", "nightly")
            for mark in item.iter_markers(name)
        ]
        most[item.path] = max([most.get(item.path, 0.0), *marks])
    return most
