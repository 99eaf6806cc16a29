"""A cluster of HDFS on this machine: Hadoop's own, for its tests.

A name node and a data node run in one process. The client that copies is that of the
jars of Spark.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from conformance.clients.jars import Jar, fetch
from conformance.java import java_home
from conformance.reproducers.junit_launcher import JUNIT
from tests.pipeline.cluster.standalone import SPARK_HOME
from tests.support.waiting import wait_until

MINICLUSTER: Final = Jar(
    group="org.apache.hadoop",
    name="hadoop-client-minicluster",
    version="3.5.0",
    sha256="06772d24529e59939915979b3edba204d367750ef7dc5120411f35221dd4818c",
)
"""Hadoop's servers; they use assertions of `JUNIT`."""
CLUSTER: Final = "org.apache.hadoop.test.MiniDFSClusterManager"
SHELL: Final = "org.apache.hadoop.fs.FsShell"
COMPILE_LIGHTLY: Final = "-XX:TieredStopAtLevel=1"
START_SECONDS: Final = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Hdfs:
    """A running cluster; ``configuration`` is a folder for ``HADOOP_CONF_DIR``."""

    uri: str
    configuration: Path

    def shell(self, *arguments: str | Path) -> str:
        """Run a command as of ``hdfs dfs``; return its output."""
        words = [SHELL, *map(str, arguments)]
        ran = subprocess.run(
            _java([self.configuration, SPARK_HOME / "jars" / "*"], *words),
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr[-2000:]
        return ran.stdout


@contextmanager
def running_hdfs(folder: Path) -> Iterator[Hdfs]:
    """Start a cluster with its files in a folder; it ends with the block."""
    jars = Path(sys.prefix) / "jars"
    fetch([MINICLUSTER, JUNIT], jars, java=java_home().home / "bin" / "java")
    paths = [jars / jar.file_name for jar in (MINICLUSTER, JUNIT)]
    details, log = folder / "details.json", folder / "hdfs.log"
    command = _java(
        [*paths, SPARK_HOME / "jars" / "*"],
        *(f"-Dtest.build.data={folder / 'data'}", CLUSTER),
        *("-datanodes", "1", "-format", "-nnport", "0", "-writeDetails", str(details)),
    )
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
    try:
        wait_until(
            lambda: _port(details) is not None or process.poll() is not None,
            seconds=START_SECONDS,
        )
        assert process.poll() is None, log.read_text(errors="replace")[-2000:]
        uri = f"hdfs://127.0.0.1:{_port(details)}"
        yield Hdfs(uri=uri, configuration=_configuration(folder, uri))
    finally:
        process.kill()
        process.wait()


def _java(class_path: list[Path], *words: str) -> list[str]:
    java = java_home().home / "bin" / "java"
    return [str(java), COMPILE_LIGHTLY, "-cp", ":".join(map(str, class_path)), *words]


def _port(details: Path) -> int | None:
    """Return the name node's port once it has one."""
    with suppress(FileNotFoundError, json.JSONDecodeError):
        return int(json.loads(details.read_text())["namenode_port"])
    return None


def _configuration(folder: Path, uri: str) -> Path:
    """Write a client's configuration, as a cluster's administrator provides it."""
    place = folder / "configuration"
    place.mkdir()
    (place / "core-site.xml").write_text(
        "<configuration><property><name>fs.defaultFS</name>"
        f"<value>{uri}</value></property></configuration>\n"
    )
    return place
