"""Spark: quiet on this machine, or on a cluster by its URL or spark-submit.

An audit of files of this machine needs Spark's tasks alone: to load its SQL, and to
plan queries, takes Java longer than all other work of a small audit.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from conformance.java import JavaRuntime, java_home
from pipeline.available_memory import available_memory
from pipeline.class_archive import reading_options
from pipeline.executors import wait_for_executors
from pipeline.launcher import launch_home
from pipeline.nameless_user import USER, home_option, is_nameless, log_in, name_of_user
from rebalance import OracleError, OutsideError

LOOPBACK = "127.0.0.1"
GIGABYTE = 1 << 30
LEAST_HEAP = 1
MOST_HEAP = 8
"""Bounds on the driver's heap, GiB: it is a quarter of the available memory."""

ROWS_PER_BATCH = 256
"""An instance can be megabytes of text; a worker must have memory for a batch."""

SETTINGS = {
    "spark.sql.shuffle.partitions": "16",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(ROWS_PER_BATCH),
    "spark.sql.parquet.compression.codec": "zstd",
}
"""Settings on which the tables depend, and those that protect the memory of workers."""

QUIET_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}

DEFAULT_MASTER = "local[*]"

_MASTER = re.compile(r"local(\[.+\]|-cluster\[.+\])?$|spark://.|k8s://.|yarn$")
_QUIET = Path(__file__).with_name("log4j2.properties")
_QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Compile lightly, and let one thread collect garbage: the heavy work is in Python, and
optimising Spark's code for the minute that an audit takes costs half of Java's time."""

_NEWER_JAVA = (24, "--sun-misc-unsafe-memory-access=allow")
"""From this version on, Java warns about calls of Spark's libraries; allow it."""

_ALLOCATOR = "ARROW_DEFAULT_MEMORY_POOL"
"""Arrow's own variable: which allocator it uses."""
_THRIFTY = "jemalloc"
"""The allocator that returns most."""

_CORES = re.compile(r"local(?:\[([^],]+)\])?$")
_ATTEMPTS = 2
"""Of each task on this machine: Spark's default is one, so that the death of a Python
worker, as by the kernel when memory is short, would end the audit."""


def is_local(master: str) -> bool:
    """Return whether Spark runs on this machine alone."""
    return master.startswith("local")


def is_submitted() -> bool:
    """Return whether ``spark-submit`` started this process, next to its own Java."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def sql_session(spark: SparkContext) -> SparkSession:
    """Return a session of Spark's SQL on a running Spark, with settings of its own."""
    assert spark is SparkContext._active_spark_context  # noqa: S101  # there is one
    session = SparkSession.builder.getOrCreate().newSession()
    # Each stage sets its number of tasks; adaptive planning only costs time.
    session.conf.set("spark.sql.adaptive.enabled", "false")
    return session


def spark_context(
    master: str | None = None, app_name: str = "assignor-oracle"
) -> SparkContext:
    """Return a running Spark, without changing the machine's Java settings.

    ``spark-submit`` has chosen the master, the name, the memory, and the log; only
    `SETTINGS` are then added. Otherwise the master is by default `DEFAULT_MASTER`.

    Raises
    ------
    OracleError
        If ``master`` is not a URL that Spark supports, or is given in addition to
        ``spark-submit``'s.
    OutsideError
        If there is no Java, or Spark does not start, or the master does not answer.
    """
    if is_submitted():
        if master is not None:
            raise OracleError(f"spark-submit has chosen the master: omit {master!r}")
        python = os.environ.get("PYSPARK_PYTHON", sys.executable)
        changed: dict[str, str | None] = {"PYSPARK_PYTHON": python}
        return _started(SETTINGS, changed, where="under spark-submit")
    master = DEFAULT_MASTER if master is None else master
    if not _MASTER.match(master):
        known = "local[*], spark://host:port, yarn or k8s://..."
        raise OracleError(f"no master that Spark knows: {master!r}; try {known}")
    runtime = java_home()
    settings = SETTINGS | QUIET_SETTINGS | _java_settings(runtime)
    settings |= {"spark.app.name": app_name, "spark.master": _with_attempts(master)}
    if is_local(master):
        settings |= _local_settings()
    variables = _variables(runtime, master)
    return _started(settings, variables, where=f"on {master}")


def java_of(spark: SparkContext) -> JavaRuntime:
    """Return the Java that the driver runs on."""
    if not is_submitted():
        return java_home()
    system: Any = spark._jvm.System  # type: ignore[union-attr]
    return JavaRuntime(
        home=Path(system.getProperty("java.home")),
        origin="spark-submit",
        version=system.getProperty("java.version"),
    )


def _started(
    settings: dict[str, str], variables: dict[str, str | None], *, where: str
) -> SparkContext:
    try:
        with _environment(variables):
            if is_nameless() and not is_submitted():
                log_in(settings)
            conf = SparkConf()
            for key, value in settings.items():
                conf.set(key, value)
            spark = SparkContext.getOrCreate(conf)
            if not is_local(spark.master or ""):
                wait_for_executors(spark)
    except (PySparkException, Py4JError, OSError) as error:
        said = " ".join(str(error).splitlines()[:2])
        raise OutsideError(f"Spark does not start {where}: {said}") from error
    return spark


def _with_attempts(master: str) -> str:
    """Let a task of ``local[N]`` fail once; ``local[N,attempts]`` stays as it is."""
    found = _CORES.match(master)
    return f"local[{found[1] or 1},{_ATTEMPTS}]" if found else master


@contextmanager
def _environment(changed: dict[str, str | None]) -> Iterator[None]:
    """Set variables while Spark starts (None: unset), then restore them."""
    before = dict(os.environ)
    try:
        for name, value in changed.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _variables(runtime: JavaRuntime, master: str) -> dict[str, str | None]:
    """Return the environment variables for Spark's launcher and workers."""
    common: dict[str, str | None] = {"JAVA_HOME": str(launch_home(runtime))}
    if is_nameless():
        common[USER] = name_of_user()
    if not is_local(master):
        python = os.environ.get("PYSPARK_PYTHON", sys.executable)
        return {**common, "PYSPARK_PYTHON": python}
    return {
        **common,
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": LOOPBACK,
        "SPARK_LOCAL_HOSTNAME": "localhost",
        "SPARK_HOME": None,  # jars of another Spark are incompatible
    }


def _local_settings() -> dict[str, str]:
    """Bind to loopback, regardless of the host name, and use temporary folders."""
    try:
        scratch = tempfile.gettempdir()
    except OSError as error:
        raise OutsideError(
            f"Spark needs a temporary folder: {error.strerror}"
        ) from error
    settings = {
        "spark.driver.host": LOOPBACK,
        "spark.driver.bindAddress": LOOPBACK,
        "spark.driver.memory": f"{_heap()}g",
        "spark.local.dir": scratch,
        "spark.python.daemon.module": "pipeline.worker_daemon",
        "spark.sql.warehouse.dir": (Path(scratch) / "spark-warehouse").as_uri(),
    }
    if _ALLOCATOR not in os.environ and _THRIFTY in pa.supported_memory_backends():
        settings[f"spark.executorEnv.{_ALLOCATOR}"] = _THRIFTY
    return settings


def _java_settings(runtime: JavaRuntime) -> dict[str, str]:
    """Return options for the driver's Java: log errors only, on the error stream."""
    options = [f"-Dlog4j2.configurationFile={_QUIET.as_uri()}", _QUICK_START]
    since, allow = _NEWER_JAVA
    if runtime.major >= since:
        options.append(allow)
    options += reading_options(runtime)
    if is_nameless():
        options.append(home_option())
    return {"spark.driver.extraJavaOptions": " ".join(options)}


def _heap() -> int:
    """Return the driver's heap in GiB."""
    return max(LEAST_HEAP, min(MOST_HEAP, available_memory() // (4 * GIGABYTE)))
