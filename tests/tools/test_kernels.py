"""Kernels compiled at set-up: when again, and by processes at the same time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools.kernel_compilation import digest_of_kernels, remove_kernels

ROOT = Path(__file__).parents[2]

SHARED = """
from rebalance import always_compiled


@always_compiled
def twice(column):
    return column + column
"""
PROCESS = """
import sys
import numba
import numpy as np
from rebalance.kernel_cache import enable_caching
from shared import twice

kept, rounds, kinds = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
for kind in kinds:
    twice(np.array([7], dtype=kind))
print("ready", flush=True)
sys.stdin.readline()
wrong = 0
for round in range(rounds):
    numba.config.CACHE_DIR = f"{kept}/{round}"
    enable_caching(twice)
    for signature in twice.overloads:
        """
WRITE = """
        twice._cache.save_overload(signature, twice.overloads[signature])
print(wrong)
"""
READ = """
        found = twice._cache.load_overload(signature, twice.targetctx)
        wrong += found is None or found.signature.args != signature
print(wrong)
"""
ROUNDS = 60
KINDS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]


def start(folder: Path, act: str, kinds: list[str]) -> subprocess.Popen[str]:
    """Start a process that has compiled the kernel, and waits."""
    code = f"{PROCESS.rstrip()}{act}"
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(folder / "kept"), str(ROUNDS), *kinds],
        env=os.environ | {"PYTHONPATH": f"{ROOT}:{folder}"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def ended(*processes: subprocess.Popen[str]) -> list[int]:
    """Let processes go on together; return how many signatures each misses."""
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    printed = [process.communicate(timeout=120)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes)
    return [int(text) for text in printed]


@pytest.mark.heavy
def test_no_signature_is_lost_or_mixed_up(tmp_path: Path) -> None:
    (tmp_path / "shared.py").write_text(SHARED)
    ended(*(start(tmp_path, WRITE, KINDS[place::2]) for place in range(2)))
    assert ended(start(tmp_path, READ, KINDS)) == [0]


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


def test_only_compiled_kernels_are_removed(checkout: Path) -> None:
    remove_kernels(checkout)
    cache = checkout / "solver" / "__pycache__"
    assert [path.name for path in cache.iterdir()] == ["flow.pyc"]


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
