"""Tests that passed in ``make test`` are left out once, and only if nothing changed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import distribution, once

TESTS = Path(__file__).parent
MODULE = """
import pytest
from hypothesis import given, strategies as st

def test_plain() -> None: ...

@given(st.integers())
def test_drawn(number: int) -> None: ...

@pytest.mark.again
def test_installed() -> None: ...

def test_skipped() -> None:
    pytest.skip("not today")
"""


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with a tracked, a new, and an ignored file."""
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / "tracked").write_text("1")
    subprocess.run(["git", "add", "tracked"], cwd=tmp_path, check=True)
    (tmp_path / ".gitignore").write_text("ignored\n")
    (tmp_path / "new").write_text("1")
    monkeypatch.setattr(once, "ROOT", tmp_path)
    monkeypatch.setattr(once, "MARKS", tmp_path / "ignored")
    return tmp_path


def test_the_digest_changes_with_what_tests_read(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = [once.digest()]
    monkeypatch.setenv("ORACLE_INSTANCES", "3")
    monkeypatch.setenv("MAKELEVEL", "2")
    assert once.digest() == seen[0]
    for name in ("tracked", "new", "ignored"):
        (checkout / name).write_text("2")
        seen.append(once.digest())
    (checkout / "new").chmod(0o755)
    seen.append(once.digest())
    (checkout / "tracked").unlink()
    seen.append(once.digest())
    monkeypatch.setenv("JAVA_HOME", "/elsewhere")
    seen.append(once.digest())
    assert len(set(seen)) == len(seen)


def pytest_in(folder: Path, *options: str) -> str:
    """Run the module of tests in a process of xdist; return the last line."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.once", "-n", "1"]
    command += ["-p", "no:cacheprovider", "-p", "no:assignor-oracle", "test_some.py"]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    ran = subprocess.run(
        [*command, "-o", "markers=again: again", *options],
        cwd=folder,
        env=environment | {"PYTHONPATH": str(TESTS.parent)},
        check=False,
        capture_output=True,
        text=True,
    )
    return (ran.stdout.strip().splitlines() or [ran.stderr])[-1]


def test_what_passed_is_left_out_if_it_cannot_differ(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(MODULE)
    file = tmp_path / "passed.json"
    assert "3 passed, 1 skipped" in pytest_in(tmp_path, once.WRITE, str(file))
    written = json.loads(file.read_text())
    names = ["drawn", "installed", "plain"]
    assert written["passed"] == [f"test_some.py::test_{name}" for name in names]
    ended = pytest_in(tmp_path, once.OMIT, str(file))
    assert "2 passed, 1 skipped" in ended
    file.write_text(json.dumps(written | {"digest": "of other files"}))
    assert "3 passed, 1 skipped" in pytest_in(tmp_path, once.OMIT, str(file))


def test_nothing_is_written_if_a_test_fails(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(f"{MODULE}\ndef test_bad(): assert False\n")
    file = tmp_path / "passed.json"
    file.write_text("{}")
    assert "1 failed, 3 passed" in pytest_in(tmp_path, once.WRITE, str(file))
    assert not file.exists()


@pytest.mark.parametrize(
    ("module", "is_repeated"),
    [
        ("solver/test_core.py", True),  # draws a number of instances
        ("heuristics/test_cooperative_sticky.py", True),  # by a helper that does
        ("report/test_escaping.py", True),  # a share of the profile's examples
        ("heuristics/group/test_machine.py", True),  # a state machine
        ("conformance/test_clients.py", True),  # calls third-party clients
        ("cli/test_conform.py", True),  # names them on the command line
        ("pipeline/test_audit.py", False),
        ("cli/test_endings.py", False),
    ],
)
def test_modules_that_are_repeated(module: str, is_repeated: bool) -> None:
    assert once.is_repeated_as_a_whole(TESTS / module) is is_repeated


def test_amounts_are_read_in_few_places() -> None:
    """So that the rule finds the modules that depend on them."""
    readers = {
        str(path.relative_to(TESTS))
        for path in TESTS.rglob("*.py")
        if "ORACLE_INSTANCES" in path.read_text() and "environ" in path.read_text()
    }
    assert readers == {"amount.py", "test_once.py"}


def test_the_longest_modules_begin(request: pytest.FixtureRequest) -> None:
    items = list(request.session.items)
    minutes = distribution.minutes_of(items)
    distribution.pytest_collection_modifyitems(items)
    order = [minutes[item.path] for item in items]
    assert order == sorted(order, reverse=True)
