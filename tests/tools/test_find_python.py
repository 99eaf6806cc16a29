"""The Python that set-up selects, and the message if there is none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "find_python.sh"


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A PATH that holds the shell's own tools and no Python."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in ("sh", "tail"):
        (folder / name).symlink_to(str(shutil.which(name)))
    return folder


def place(folder: Path, name: str, words: str) -> None:
    """Write a program that fails with this message, as a wrong Python does."""
    program = folder / name
    program.write_text(f"#!/bin/sh\necho '{words}' >&2\nexit 1\n")
    program.chmod(0o755)


def find(programs: Path, python: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", str(SCRIPT)],
        cwd=programs.parent,
        env={"PATH": str(programs), "PYTHON": python},
        capture_output=True,
        text=True,
        check=False,
    )


def base() -> str:
    return str(getattr(sys, "_base_executable", sys.executable))


def test_none_at_all(programs: Path) -> None:
    found = find(programs)
    assert found.returncode == 1
    assert "needed is 3.11, 3.12, 3.13 or 3.14" in found.stderr
    assert "Looked for: .venv/bin/python python3.13" in found.stderr


def test_each_that_does_not_fit_is_named(programs: Path) -> None:
    place(programs, "python3", "Python 3.9")
    place(programs, "python3.12", "Python 3.12 without venv")
    found = find(programs)
    assert found.returncode == 1
    assert f"{programs}/python3: Python 3.9" in found.stderr
    assert f"{programs}/python3.12: Python 3.12 without venv" in found.stderr


def test_a_wrong_one_is_passed_over(programs: Path) -> None:
    place(programs, "python3.13", "a shim for a version that is not installed")
    (programs / "python3").symlink_to(base())
    found = find(programs)
    assert found.returncode == 0
    assert os.path.realpath(found.stdout.strip()) == os.path.realpath(base())


def test_an_environment_leads_to_its_base(programs: Path) -> None:
    """An activated environment may be the very one that gets made anew."""
    found = find(programs, python=sys.executable)
    assert found.returncode == 0
    assert found.stdout.strip() == base() != sys.executable


def test_a_requested_python_is_the_only_candidate(programs: Path) -> None:
    (programs / "python3").symlink_to(base())
    place(programs, "my python", "Python 3.10")
    found = find(programs, python=str(programs / "my python"))
    assert found.returncode == 1
    assert f"{programs}/my python: Python 3.10" in found.stderr
