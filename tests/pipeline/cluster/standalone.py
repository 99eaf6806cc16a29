"""A standalone cluster of Spark on this machine, from the package pyspark.

Reaches into `pipeline.launcher` to start Java as the audit does.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pyspark

from conformance.java import java_home
from pipeline.launcher import launch_home

SPARK_HOME = Path(pyspark.__file__).parent
HOST = "127.0.0.1"
MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"
STARTED = re.compile(r"Starting Spark master at (spark://\S+)")
REGISTERED = re.compile(r"Successfully registered with master")
START_SECONDS = 60
STOP_SECONDS = 20


def java_environment() -> dict[str, str]:
    """Return the variables with which Spark's own scripts run here."""
    compile_lightly = "-XX:TieredStopAtLevel=1"  # the runs are short
    return {
        "JAVA_HOME": str(launch_home(java_home())),
        "JDK_JAVA_OPTIONS": compile_lightly,
        "SPARK_HOME": str(SPARK_HOME),
        "SPARK_LOCAL_IP": HOST,
    }


@contextmanager
def standalone_cluster(
    folder: Path, *, workers: int = 2, environment: dict[str, str] | None = None
) -> Iterator[str]:
    """Start a master and workers of one core and 1 GiB each; yield the URL.

    The last worker has a core more, so that the cores that Spark has are not those that
    it assumes before the workers are there.

    Ports are free ones, logs and files of the workers are in ``folder``, and
    ``environment`` is added to that of the workers. All processes end with the block.
    """
    running: list[subprocess.Popen[bytes]] = []
    try:
        options = ["--host", HOST, "--webui-port", "0"]
        master = folder / "master.log"
        running.append(_start([MASTER, *options, "--port", "0"], master, {}))
        url = _said(STARTED, master, running[-1])[1]
        logs = [folder / f"worker-{number}.log" for number in range(workers)]
        for number, log in enumerate(logs, start=1):
            cores = "2" if number == workers else "1"
            place = str(folder / log.stem)
            options_of_one = ["--cores", cores, "--memory", "1g", "--work-dir", place]
            command = [WORKER, *options, *options_of_one, url]
            running.append(_start(command, log, environment or {}))
        for log, process in zip(logs, running[1:], strict=True):
            _said(REGISTERED, log, process)
        yield url
    finally:
        for process in reversed(running):  # a worker ends its executors
            _stop(process)


def _start(
    command: Sequence[str], log: Path, environment: dict[str, str]
) -> subprocess.Popen[bytes]:
    with log.open("wb") as output:
        return subprocess.Popen(
            [str(SPARK_HOME / "bin" / "spark-class"), *command],
            cwd=log.parent,
            env={**os.environ, **java_environment(), **environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def _said(
    words: re.Pattern[str], log: Path, process: subprocess.Popen[bytes]
) -> re.Match[str]:
    """Wait until a process has logged these words."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        if found := words.search(log.read_text(errors="replace")):
            return found
        time.sleep(0.2)
    raise AssertionError(f"not started: {log.read_text(errors='replace')[-2000:]}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(STOP_SECONDS)
    with suppress(ProcessLookupError):  # whatever is left of its session
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
