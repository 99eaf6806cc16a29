"""The number of processes that run tests is the one that `distribution` states."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.distribution import MOST

TWO_CORES = "import os\nos.sched_getaffinity = lambda _: {0, 1}\n"
EMPTY = "def test_nothing():\n    pass\n"


@pytest.mark.parametrize(
    ("chosen", "more"), [(["-m", "not slow"], 0), ([], 1), (["-m", "slow"], 1)]
)
def test_slow_tests_have_one_process_more(
    chosen: list[str], more: int, tmp_path: Path
) -> None:
    (tmp_path / "test_it.py").write_text(EMPTY)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow: x\n")
    (tmp_path / "conftest.py").write_text(TWO_CORES)
    command = [sys.executable, "-m", "pytest", "-v", "-p", "tests.distribution"]
    ran = subprocess.run(
        [*command, "-n", "logical", *chosen, str(tmp_path)],
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert f"{min(2 + more, MOST)} workers" in ran.stdout, ran.stdout + ran.stderr
