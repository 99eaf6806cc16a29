"""Pytest plugin: run a test once that cannot have another outcome the second time.

``make test`` writes which tests passed (``--write-passed FILE``), with a digest of the
files and of the environment. ``make test-all`` leaves them out (``--omit-passed FILE``)
if neither has changed, except for those that `is_repeated` selects.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import is_hypothesis_test

ROOT: Final = Path(__file__).resolve().parent.parent
WRITE: Final = "--write-passed"
OMIT: Final = "--omit-passed"
MARKS: Final = ROOT / ".venv" / "set-up.json"
LEFT_OUT: Final = re.compile(r"ORACLE_|PYTEST_|MAKE|MFLAGS|SHLVL|PWD|OLDPWD|_$")
"""Variables that differ between the two runs: the amounts, and make's and pytest's."""

_AMOUNT: Final = re.compile(r"ORACLE_(INSTANCES|PROFILE)|settings\.default")
_INSTALLED: Final = re.compile(
    r"conformance\.(?!broker|corpus|java|random_rebalances|scenario)|--client|browser"
)
_STATEFUL: Final = {"find", "settings", "stateful"}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("once")
    group.addoption(WRITE, metavar="FILE", help="write which tests passed")
    group.addoption(OMIT, metavar="FILE", help="omit tests that passed before")


PASSED = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    """Take part in the process that distributes tests, or runs them all."""
    if hasattr(config, "workerinput"):
        config.stash[PASSED] = config.workerinput["passed"]
    else:
        config.stash[PASSED] = _passed_before(config.getoption(OMIT))
        if file := config.getoption(WRITE):
            config.pluginmanager.register(_Record(Path(file)))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Pass on what passed before to a process that runs tests."""
    node.workerinput["passed"] = node.config.stash[PASSED]


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Leave out the tests that passed before, in every process alike."""
    passed = config.stash[PASSED]
    names = frozenset(passed)
    known = [one for one in items if one.nodeid in names]
    omitted = {one.nodeid for one in known if not is_repeated(one)}
    if omitted:
        left_out = [one for one in items if one.nodeid in omitted]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [one for one in items if one.nodeid not in omitted]


class _Record:
    """Writes the names of passed tests, if all passed and nothing changed meanwhile."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._digest = digest()
        self._passed: set[str] = set()
        file.unlink(missing_ok=True)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self._passed.add(report.nodeid)

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        if exitstatus == pytest.ExitCode.OK and digest() == self._digest:
            content = {"digest": self._digest, "passed": sorted(self._passed)}
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._file.write_text(json.dumps(content, indent=0), encoding="utf-8")


def _passed_before(file: str | None) -> list[str]:
    """Return the tests that passed on the same files in the same environment."""
    if file is None or not Path(file).exists():
        return []
    written = json.loads(Path(file).read_text(encoding="utf-8"))
    return list(written["passed"]) if written["digest"] == digest() else []


def digest() -> str:
    """Return a digest of all files but ignored ones, and of the environment."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True).stdout
    total = hashlib.sha256()
    for name in sorted(set(names.split(b"\0")) - {b""}):
        total.update(name + b"\0" + _content(ROOT / os.fsdecode(name)))
    for part in (sys.version, sys.prefix, str(sys.flags), *_variables()):
        total.update(hashlib.sha256(os.fsencode(part)).digest())
    total.update(_content(MARKS))
    return total.hexdigest()


def _content(path: Path) -> bytes:
    """Return a digest of a file with its mode, or of where a link leads."""
    if path.is_symlink():
        return hashlib.sha256(b"link" + os.fsencode(path.readlink())).digest()
    if not path.is_file():
        return b"none"
    mode = oct(path.stat().st_mode).encode()
    return hashlib.sha256(mode + path.read_bytes()).digest()


def _variables() -> Iterable[str]:
    """Yield the environment variables, as `name=value`."""
    return (f"{k}={v}" for k, v in sorted(os.environ.items()) if not LEFT_OUT.match(k))


def is_repeated(item: pytest.Item) -> bool:
    """Return whether a test can have another outcome in ``make test-all``.

    It draws as much as a variable states, or depends on what ``make test-all``
    installs: third-party clients and a browser.
    """
    function = getattr(item, "obj", None)
    return (
        is_hypothesis_test(function)
        or item.get_closest_marker("again") is not None
        or is_repeated_as_a_whole(item.path)
    )


@cache
def is_repeated_as_a_whole(module: Path) -> bool:
    """Return whether every test of a module is repeated, by what its source names."""
    sources = [source_of(path) for path in with_helpers(module)]
    return (
        any(_AMOUNT.search(source) for source in sources)
        or _INSTALLED.search(source_of(module)) is not None
        or _draws_within(ast.parse(source_of(module)))
    )


@cache
def source_of(module: Path) -> str:
    return module.read_text(encoding="utf-8")


@cache
def with_helpers(module: Path) -> frozenset[Path]:
    """Return a module with all modules of `tests` that its imports reach."""
    found, queue = {module}, [module]
    while queue:
        new = _imported(queue.pop()) - found
        found |= new
        queue.extend(new)
    return frozenset(found)


@cache
def _imported(module: Path) -> frozenset[Path]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(source_of(module))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names |= {f"{node.module}.{one.name}" for one in node.names}
        elif isinstance(node, ast.Import):
            names |= {one.name for one in node.names}
    ours = (name.replace(".", "/") for name in names if name.startswith("tests"))
    paths = (ROOT / f"{name}{end}" for name in ours for end in (".py", "/__init__.py"))
    return frozenset(path for path in paths if path.is_file())


def _draws_within(tree: ast.Module) -> bool:
    """Return whether a module calls Hypothesis other than by decorating its tests."""
    imported = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "") == "hypothesis"
        for alias in node.names
    }
    modules = {
        node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
    }
    nested = (
        inner
        for outer in ast.walk(tree)
        if isinstance(outer, ast.FunctionDef)
        for inner in ast.walk(outer)
        if isinstance(inner, ast.FunctionDef) and inner is not outer
    )
    return (
        bool(imported & _STATEFUL)
        or "hypothesis.stateful" in modules
        or any("given" in ast.unparse(d) for one in nested for d in one.decorator_list)
    )
