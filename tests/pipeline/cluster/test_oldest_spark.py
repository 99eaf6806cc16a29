"""The oldest Spark that is supported yields the rows of the newest one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.pipeline.cluster.commands import assert_same_rows, audited, command, run_of
from tools.oldest_spark import LOCK, make_oldest_spark


@pytest.mark.nightly(minutes=1.5)
def test_the_oldest_spark(expected: Path, tmp_path: Path) -> None:
    python = make_oldest_spark()
    out = audited(command("local[2]", python), tmp_path / "out")
    locked = re.search(r"^pyspark==(\S+)", LOCK.read_text(), re.MULTILINE)
    assert locked is not None
    assert dict(run_of(out)["versions"])["pyspark"] == locked[1]
    assert dict(run_of(expected)["versions"])["pyspark"] != locked[1]
    assert_same_rows(out, expected)
