"""Processes that compile at the same time share the stored kernels without a loss."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

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
