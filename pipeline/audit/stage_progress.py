"""Progress of Spark's stages, reported from a thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final, TypeAlias

from pyspark import StatusTracker

from pipeline.sources.spark_rows import SPARK_ERRORS

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with a phase, the number of finished tasks, and the number of tasks."""

_SECONDS: Final = 0.2


@contextmanager
def watched(
    tracker: StatusTracker, progress: Progress | None, phase: str
) -> Iterator[None]:
    """Report the tasks of Spark's running stages while the block runs."""
    if progress is None:
        yield
        return
    progress(phase, 0, 1)
    stop = threading.Event()
    thread = threading.Thread(
        target=_watch, args=(tracker, progress, phase, stop), daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
    progress(phase, 1, 1)


def _watch(
    tracker: StatusTracker, progress: Progress, phase: str, stop: threading.Event
) -> None:
    with suppress(*SPARK_ERRORS, OSError):  # if Java is gone, the main thread tells
        while not stop.wait(_SECONDS):
            done = total = 0
            for stage in tracker.getActiveStageIds():
                info = tracker.getStageInfo(stage)
                if info is not None:
                    done += info.numCompletedTasks
                    total += info.numTasks
            if total:
                progress(phase, done, total)
