"""Spark while an audit runs: started when needed, with its failures as our errors."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import dropwhile, takewhile
from threading import Thread
from typing import Final

from pyspark import SparkContext
from pyspark.sql import SparkSession

from pipeline.audit.interrupt import interrupts_kept, java_ended, signals_deferred
from pipeline.evaluation import DisagreementError
from pipeline.files import HadoopStore, Location
from pipeline.session import is_local, is_submitted, java_of, spark_context
from pipeline.sources.spark_rows import SPARK_ERRORS
from rebalance import OracleError, OutputError, OutsideError


@dataclass(slots=True, kw_only=True)
class Clock:
    """Seconds per phase."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Measure the block."""
        began = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - began


class LazySpark:
    """Starts Spark when it is first needed: before the search, if it is remote."""

    def __init__(
        self, stack: ExitStack, master: str | None, out: Location, clock: Clock
    ) -> None:
        self._stack = stack
        self._master = master
        self._out = out
        self._clock = clock
        self._started: tuple[SparkContext, str] | None = None

    def start(self) -> tuple[SparkContext, str]:
        """Return Spark and the description of its Java."""
        if self._started is None:
            running = _spark(self._master, self._out, self._clock)
            self._started = self._stack.enter_context(running)
        return self._started

    def hadoop(self) -> HadoopStore:
        """Return Hadoop's file systems."""
        return HadoopStore(self.start()[0])


@contextmanager
def _spark(
    master: str | None, out: Location, clock: Clock
) -> Iterator[tuple[SparkContext, str]]:
    """Start Spark, or use a running session; convert its failures into our errors."""
    running = SparkSession.getActiveSession()
    is_own = running is None and not is_submitted()
    with interrupts_kept(), java_ended() if is_own else nullcontext():
        with signals_deferred(), clock.phase("start"):
            spark = running.sparkContext if running else spark_context(master)
            java = str(java_of(spark))
        if is_own:
            _silence(spark)
            if is_local(spark.master or ""):
                in_background(partial(_start_workers, spark))
        try:
            yield spark, java
        except SPARK_ERRORS as error:
            raise failure_of(error, out) from error
        finally:
            if running is None:
                spark.stop()


def _start_workers(spark: SparkContext) -> None:
    """Let the daemon of Python's workers load the judge while the audit is planned."""
    spark.parallelize([0], 1).count()


def in_background(prepare: Callable[[], object]) -> None:
    """Prepare something in a thread; a failure is left to those who need it."""

    def run() -> None:
        with suppress(Exception):
            prepare()

    Thread(target=run).start()


def _silence(spark: SparkContext) -> None:
    """Suppress Spark's output to the terminal: errors are raised, too."""
    spark.setLogLevel("OFF")
    # If Java is gone, PySpark warns, and its server prints a traceback.
    warnings.filterwarnings("ignore", "Unable to cleanly shutdown Spark JVM")
    server = vars(spark).get("_accumulatorServer")
    if server is not None:
        server.handle_error = _nothing


def _nothing(*_: object) -> None: ...


_FULL: Final = (
    "No space left on device",
    "Disk quota exceeded",
    "File too large",
    "Read-only file system",
    "Permission denied",
    "Input/output error",
)

_TRACEBACK: Final = "Traceback (most recent call last)"
_AFTER: Final = ("at ", "SQLSTATE: ")
_WORKER_ENDED: Final = "Python worker exited unexpectedly"
"""Spark writes this between other lines, of which the first names no reason."""


def failure_of(error: Exception, out: Location) -> OracleError:
    """Distinguish a failing disk from other failures."""
    text = str(error)
    for reason in _FULL:
        if reason in text:
            return OutputError(reason.lower(), target=str(out))
    lines = [line.strip() for line in text.splitlines() if line.strip()] or [""]
    # The error is the last line of a Python worker's traceback, which frames of Java,
    # or a line with Spark's code, can follow, and the first of Java's.
    summary = lines[0]
    if _TRACEBACK in text:
        after = dropwhile(lambda line: _TRACEBACK not in line, lines)
        *_, summary = takewhile(lambda line: not line.startswith(_AFTER), after)
    for kind in (DisagreementError, OutsideError):  # raised by a worker
        _, name, reason = summary.partition(f"{kind.__name__}: ")
        if name:
            return kind(reason)
    if _WORKER_ENDED in text:
        summary = (
            "a Python worker ended in each attempt of a task: "
            "it was killed, perhaps for lack of memory, or crashed"
        )
    return OutsideError(f"Spark failed: {summary[:300]}")
