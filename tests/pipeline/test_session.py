"""A session starts without output, leaves no files, and restores the environment."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from pyspark import SparkConf, SparkContext

from pipeline.session import SETTINGS, is_submitted, spark_context
from rebalance import OracleError, OutsideError

RUN = """
import os, sys
from collections.abc import Iterator
import pyarrow as pa
from pipeline.session import spark_context, sql_session

before = dict(os.environ)
session = sql_session(spark_context("local[2]", "test"))
assert session.conf.get("spark.sql.adaptive.enabled") == "false"
assert dict(os.environ) == before

def double(batches):
    for batch in batches:
        assert sys.executable == {python!r}, sys.executable
        assert pa.default_memory_pool().backend_name == "jemalloc"
        yield pa.RecordBatch.from_arrays(
            [pa.array([2 * n for n in batch.column(0).to_pylist()])], names=["id"]
        )

rows = session.range(1000).mapInArrow(double, "id long").collect()
assert sorted(row.id for row in rows) == list(range(0, 2000, 2))
print(session.sparkContext._jvm.System.getProperty("java.version"))
print(session.sql("select current_timezone()").first()[0])
print(session.conf.get("spark.driver.host"))
session.stop()
"""

SHELL = ("sh", "bash", "dirname", "ps", "uname", "env", "chmod")


def run(folder: Path, path: str) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    return subprocess.run(
        [sys.executable, "-c", RUN.format(python=sys.executable)],
        cwd=folder,
        env=env | {"PATH": path, "SPARK_HOME": "/nowhere"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def bare_path(tmp_path: Path) -> str:
    """A PATH with what Spark's shell scripts call, and without Java."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in SHELL:
        for place in ("/usr/bin", "/bin"):
            if (Path(place) / name).exists():
                (folder / name).symlink_to(Path(place) / name)
                break
    return str(folder)


@pytest.mark.heavy
def test_spark_runs_on_the_java_of_the_wheel(tmp_path: Path, bare_path: str) -> None:
    folder = tmp_path / "a folder"
    folder.mkdir()
    ran = run(folder, bare_path)
    assert ran.returncode == 0, ran.stderr
    version, zone, host = ran.stdout.split()
    assert int(version.split(".")[0]) >= 17
    assert (zone, host) == ("UTC", "127.0.0.1")
    assert ran.stderr == ""
    assert list(folder.iterdir()) == []


@pytest.mark.nightly
def test_spark_runs_on_the_java_of_the_machine(tmp_path: Path) -> None:
    """As in every other test of Spark on a machine with Java."""
    ran = run(tmp_path, os.environ["PATH"])
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    assert list(tmp_path.iterdir()) == []


def test_a_spark_that_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_conf: SparkConf) -> SparkContext:
        raise OSError("no such master\nyet\nat Java.main")

    monkeypatch.setattr(SparkContext, "getOrCreate", fail)
    with pytest.raises(
        OutsideError, match=r"does not start on yarn: no such master yet$"
    ):
        spark_context("yarn")


def test_there_is_no_temporary_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> str:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    monkeypatch.setattr(tempfile, "gettempdir", fail)
    with pytest.raises(OutsideError, match="temporary folder: No usable temp"):
        spark_context("local[2]")


def test_spark_submit_chooses_the_master(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not is_submitted()
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "12345")
    assert is_submitted()
    with pytest.raises(OracleError, match=r"has chosen the master: omit 'yarn'") as one:
        spark_context("yarn")
    assert one.value.exit_code == 2
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    seen: dict[str, str] = {}

    def start(conf: SparkConf) -> SparkContext:
        seen.update(conf.getAll(), python=os.environ["PYSPARK_PYTHON"])
        raise OSError("stopped here")

    monkeypatch.setattr(SparkContext, "getOrCreate", start)
    with pytest.raises(OutsideError, match="under spark-submit: stopped here"):
        spark_context()
    assert seen == {**SETTINGS, "python": sys.executable}
    assert "PYSPARK_PYTHON" not in os.environ


@pytest.mark.parametrize("master", ["", "nonsense", "local[", "spark://", "yarn2"])
def test_a_master_that_spark_does_not_know(master: str) -> None:
    with pytest.raises(OracleError, match="no master that Spark knows") as error:
        spark_context(master)
    assert error.value.exit_code == 2
