"""Compiling kernels next to other steps: failure, interruption, and shared caches."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest

from tests.support.waiting import wait_until
from tools import compilation
from tools.compilation import digest_of_kernels, start_compilation


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with one compiled kernel, and what its digest is made from."""
    cache = tmp_path / "solver" / "__pycache__"
    cache.mkdir(parents=True)
    for name in ("flow.route-1.nbi", "flow.route-1.1.nbc", "flow.pyc"):
        (cache / name).touch()
    (tmp_path / "solver" / "flow.py").write_text("@njit\n")
    (tmp_path / "solver" / "words.py").write_text("one")
    (tmp_path / "rebalance").mkdir()
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements" / "kernel-packages.lock").write_text("numba==1")
    return tmp_path


def python_of(checkout: Path, script: str) -> Path:
    """Return an environment whose Python is this shell script."""
    python = checkout / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\n{script}\n")
    python.chmod(0o755)
    return checkout / ".venv"


def test_kernels_that_do_not_compile_are_no_hindrance(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Old caches are deleted first: numba would load them and fail."""
    venv = python_of(checkout, "echo 'no such thing' >&2\nexit 1")
    start_compilation(checkout, venv).wait()
    assert "first needed (no such thing)" in capsys.readouterr().out
    cache = checkout / "solver" / "__pycache__"
    assert [path.name for path in cache.iterdir()] == ["flow.pyc"]


def test_a_stopped_compilation_leaves_no_process(checkout: Path) -> None:
    venv = python_of(checkout, "sleep 60 &\necho $! >child\nwait")
    started = start_compilation(checkout, venv)
    child = checkout / "child"
    wait_until(lambda: child.exists() and child.read_text().strip() != "", seconds=20)
    started.stop()
    assert started.process.returncode is not None
    wait_until(lambda: not is_alive(int(child.read_text())), seconds=20)


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{process}/stat")
    return not (stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z")


def test_bytecode_is_stored_whatever_the_environment_says(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Images for containers often set the variable, and every start would be slow."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setattr(compilation, "MODULES", ("ours", "ours.part"))
    package = checkout / "ours"
    package.mkdir()
    for name in ("__init__", "part"):
        (package / f"{name}.py").touch()
    (checkout / ".venv" / "bin").mkdir(parents=True)
    (checkout / ".venv" / "bin" / "python").symlink_to(sys.executable)
    compilation.compile_modules(checkout, checkout / ".venv")
    stored = {path.name.split(".")[0] for path in package.glob("__pycache__/*.pyc")}
    assert stored == {"__init__", "part"}


def test_every_module_that_is_compiled_exists() -> None:
    for name in compilation.MODULES:
        assert importlib.util.find_spec(name), name


@pytest.mark.parametrize(
    ("name", "text", "again"),
    [
        ("solver/flow.py", "@njit(cache=True)\n", True),
        ("solver/flow.py", "@kernel\n", True),
        ("solver/flow.py", "@borrowing_kernel\n", True),
        ("solver/flow.py", "@always_compiled\n", True),
        ("rebalance/compiled.py", "njit(function)", True),
        ("solver/words.py", "two", False),
        ("requirements/kernel-packages.lock", "numba==2", True),
        ("requirements/runtime.lock", "pyspark==2", False),
    ],
)
def test_kernels_are_compiled_again_only_when_they_may_differ(
    checkout: Path, name: str, text: str, again: bool
) -> None:
    before = digest_of_kernels(checkout)
    (checkout / name).write_text(text)
    assert (digest_of_kernels(checkout) != before) is again
