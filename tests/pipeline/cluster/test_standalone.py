"""Audits on a standalone cluster have the rows of one on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.pipeline.cluster.commands import (
    ROOT,
    SOURCE,
    assert_same_rows,
    audited,
    command,
    run_of,
    submitted,
    submitting,
)
from tests.pipeline.cluster.standalone import standalone_cluster
from tools.workers import make_workers

pytestmark = pytest.mark.nightly(minutes=2)


class Cluster(NamedTuple):
    """URL of the master, and the folder with the files of the workers."""

    url: str
    folder: Path


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A master and two workers, which do not import from this checkout."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with standalone_cluster(
            folder, workers=2, environment={"PYTHONPATH": ""}
        ) as url:
            yield Cluster(url, folder)


def test_a_master_by_its_url(cluster: Cluster, expected: Path, tmp_path: Path) -> None:
    """The workers start the same Python, which finds this checkout."""
    python = tmp_path / "python"
    path = f'PYTHONPATH="{ROOT}:$PYTHONPATH"'
    python.write_text(f'#!/bin/sh\n{path} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    environment = {"PYSPARK_PYTHON": str(python)}
    out = audited(command(cluster.url), tmp_path / "out", environment)
    assert_same_rows(out, expected)
    assert run_of(out)["master"] == cluster.url
    assert run_of(out)["cores"] == 3
    assert run_of(out)["tasks"] == 12  # four per core


def test_spark_submit_passes_on_messages_and_exit_codes(tmp_path: Path) -> None:
    script = submitted("local[1]", None)
    for arguments, reason in (
        (["audit", "absent.jsonl"], "absent.jsonl: no such file"),
        (["audit", SOURCE, "--master", "yarn"], "spark-submit has chosen the master"),
    ):
        ended = subprocess.run(
            [*script, *arguments, "--out", str(tmp_path / "out")],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), **submitting()},
            capture_output=True,
            text=True,
            check=False,
        )
        last_line = ended.stdout.splitlines()[-1]  # spark-submit joins the streams
        assert last_line.startswith("assignor-oracle: ")
        assert reason in last_line
        assert ended.returncode == 2
    assert not (tmp_path / "out").exists()


def test_spark_submit_with_the_wheel_in_a_packed_environment(
    cluster: Cluster, expected: Path, tmp_path: Path
) -> None:
    archive = make_workers()
    before = set(cluster.folder.glob("worker-*/app-*"))
    command = submitted(cluster.url, archive)
    out = audited(command, tmp_path / "out", submitting())
    assert_same_rows(out, expected)
    assert run_of(out)["master"] == cluster.url
    assert "from spark-submit" in dict(run_of(out)["versions"])["java"]
    used = set(cluster.folder.glob("worker-*/app-*")) - before
    assert len(used) == 2
    for folder in used:  # nothing else has these modules: workers have no other path
        (packages,) = folder.glob("*/env/lib/python*/site-packages")
        assert (packages / "pipeline" / "audit" / "stages.py").is_file()
        assert not (packages / "pyspark").exists()
