"""Workers of a local Spark are forked from a process that has loaded what they need.

Reaches into `pipeline.worker_daemon`, which runs as a program, into the packages that
it loads, and into the judge's kernel, which is to be among them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyspark

LOAD = """
import os, sys
from pathlib import Path
from pipeline.audit.worker_packages import load_judge, spare_pandas_of_arrow
from pipeline.judging.code_kernels import evaluate_all

spare_pandas_of_arrow()
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


LEAVE = """
import sys
from pipeline.worker_daemon import leave_archives

leave_archives()
import pyspark.daemon
print(pyspark.__path__[0], *sys.path_importer_cache, sep="\\n")
"""


def test_the_daemon_imports_pyspark_from_its_folder() -> None:
    """Spark puts archives first, whose modules each process compiles anew."""
    home = Path(pyspark.__path__[0])
    archives = [*home.glob("python/lib/*.zip"), *home.glob("jars/spark-core_*.jar")]
    kept = home.parent / "of-a-user.zip"
    done = subprocess.run(
        [sys.executable, "-c", LEAVE],
        env=os.environ
        | {
            "SPARK_HOME": str(home),
            "PYTHONPATH": os.pathsep.join(map(str, [*archives, kept])),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    folder, *places = done.stdout.splitlines()
    assert Path(folder) == home
    assert len(archives) == 3
    assert not {*map(str, archives)} & {*places}
    assert str(kept) in places


SPARE = """
import sys
from pipeline.audit import spare_pandas

spare_pandas()
import pyarrow
from pyspark.sql.types import NumpyArrayConverter

pyarrow.array([[1]])
assert not NumpyArrayConverter().can_convert("an argument of a method of Java")
assert "pandas" not in sys.modules
import pandas  # of an assignor that someone adds
"""


def test_neither_arrow_nor_pyspark_loads_pandas() -> None:
    """PySpark asks for it on the first call of Java that has an argument."""
    subprocess.run([sys.executable, "-c", SPARE], check=True)
