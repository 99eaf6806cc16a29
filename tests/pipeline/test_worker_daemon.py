"""Workers of a local Spark are forked from a process that has loaded what they need.

Reaches into `pipeline.audit.worker_daemon`, which runs as a program, and into the
judge's kernel, which it is to load.
"""

from __future__ import annotations

import os
import subprocess
import sys

LOAD = """
import os, sys
from pathlib import Path
from pipeline.audit.worker_daemon import load_judge, spare_pandas
from pipeline.judging.code_kernels import evaluate_all

spare_pandas()
assert not evaluate_all.signatures
assert load_judge() == ["rebalances", "members", "answers"]
assert len(evaluate_all.signatures) == 1
threads = {path.read_text().strip() for path in Path("/proc/self/task").glob("*/comm")}
assert threads <= {Path("/proc/self/comm").read_text().strip(), "jemalloc_bg_thd"}
if child := os.fork():
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
assert load_judge() == ["rebalances", "members", "answers"]
assert "pandas" not in sys.modules
import pandas  # of an assignor that someone adds
"""


def test_the_judge_is_loaded_without_threads_of_ours_or_output() -> None:
    """A fork copies only one thread; Arrow's allocator starts its own again.

    The environment is that of Spark's workers.
    """
    done = subprocess.run(
        [sys.executable, "-c", LOAD],
        env=os.environ
        | {"OMP_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "jemalloc"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
