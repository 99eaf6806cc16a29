"""The audit as people start it: by the command, and by ``spark-submit``."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pipeline.tables import RUN_TABLE, SCHEMAS, read_table
from tests.pipeline.cluster.standalone import SPARK_HOME, java_environment

ROOT = Path(__file__).resolve().parents[3]
SOURCE = "recordings/first-look"
SECONDS = 400
"""Time limit of one audit, on a busy machine."""


def audited(
    command: Sequence[str | Path], out: Path, environment: dict[str, str] | None = None
) -> Path:
    """Audit `SOURCE`, given by its relative path; return the folder of the tables."""
    ended = subprocess.run(
        [*command, "audit", SOURCE, "--out", str(out)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    assert f"page    {out}/index.html" in ended.stdout
    return out


def command(master: str, python: Path | None = None) -> Sequence[str | Path]:
    """Return the command with a master; its arguments follow."""
    start = (
        f"import sys; from oracle.cli import main; sys.argv += ['--master', {master!r}]"
    )
    return [python or sys.executable, "-c", f"{start}; main()"]


def submitted(master: str, archive: Path | None) -> Sequence[str | Path]:
    """Return ``spark-submit`` as in docs/clusters.md; arguments of the audit follow."""
    options = ["--master", master, "--name", "audit"]
    if archive is not None:
        options += ["--archives", f"{archive}#env"]
    return [SPARK_HOME / "bin" / "spark-submit", *options, ROOT / "oracle/__main__.py"]


def submitting() -> dict[str, str]:
    """Return the environment of ``spark-submit`` as in docs/clusters.md."""
    python = {"PYSPARK_PYTHON": "./env/bin/python"}
    return {**java_environment(), **python, "PYSPARK_DRIVER_PYTHON": sys.executable}


def run_of(out: Path) -> dict[str, Any]:
    """Return the row that describes a run."""
    (row,) = read_table(out, RUN_TABLE).to_pylist()
    return dict(row)


def assert_same_rows(out: Path, expected: Path, *, moved: bool = False) -> None:
    """Compare all tables except the one that describes the run.

    ``moved`` states that the sources have other locations in each.
    """
    for name, schema in SCHEMAS.items():
        columns = [c for c in schema.names if not (moved and c == "source")]
        table = read_table(out, name).select(columns)
        assert table.equals(read_table(expected, name).select(columns)), name
    counts = ("rows_read", "rows_repeated", "rows_judged", "rows_quarantined")
    for name in (*counts, "quarantined", "rows"):
        assert run_of(out)[name] == run_of(expected)[name], name
