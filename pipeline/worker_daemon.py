"""Daemon of Spark's workers on this machine: it loads their packages, then forks them.

Workers of PySpark's own daemon have nothing in common: each imports the stages, and
loads the compiled judge.

Spark lets its workers import PySpark from archives without compiled modules. Each of
them compiles a hundred modules, and reads the directory of an archive anew for each
package that it has imported. The driver has imported the same PySpark from its folder.
"""

from __future__ import annotations

import gc
import os
import sys
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Final

_HOME: Final = "SPARK_HOME"
_ARCHIVES: Final = (".zip", ".jar")


def leave_archives() -> None:
    """Import from folders, not from archives in Spark's home, if PySpark is in one."""
    home = os.environ.get(_HOME, "")
    archives = {
        entry
        for entry in sys.path
        if entry.endswith(_ARCHIVES) and home and Path(home) in Path(entry).parents
    }
    folders = [entry for entry in sys.path if entry not in archives]
    if PathFinder.find_spec("pyspark", folders) is not None:
        sys.path[:] = folders
        for archive in archives:
            sys.path_importer_cache.pop(archive, None)


if __name__ == "__main__":
    leave_archives()
    gc.disable()  # modules stay; to look for garbage among them takes long

    from pyspark.daemon import manager

    from pipeline.audit.worker_packages import load_all

    load_all()
    gc.freeze()  # a worker looks for garbage after each task
    gc.enable()
    manager()
