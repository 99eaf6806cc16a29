"""The example of docs/pytest.md runs, and finds what the page says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from oracle.pytest_plugin import assert_optimal
from tests.support.pages import ROOT, blocks

PAGE = ROOT / "docs" / "pytest.md"


QUICK = """
from hypothesis import Phase, settings
settings.register_profile("page", max_examples=40, phases=[Phase.generate])
settings.load_profile("page")
"""


@pytest.mark.heavy
def test_the_example_runs(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(QUICK, encoding="utf-8")
    for _, _, text in blocks("python", [PAGE]):
        name = text.partition("\n")[0].removeprefix("# ")
        (tmp_path / name).write_text(text, encoding="utf-8")
    known = {point.value for point in entry_points(group="pytest11")}
    plugin = [] if "oracle.pytest_plugin" in known else ["-p", "oracle.pytest_plugin"]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-rA", "--color=no", *plugin, str(tmp_path)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == pytest.ExitCode.TESTS_FAILED, ran.stdout + ran.stderr
    lines = ran.stdout.splitlines()
    passed = [line for line in lines if line.startswith("PASSED ")]
    failed = [line for line in lines if line.startswith("FAILED ")]
    assert {line.partition("::")[2].partition("[")[0] for line in passed} == {
        "test_any_group",
        "test_any_claims",
        "test_churn",
        "test_corpus",
    }
    assert len(passed) > 40
    (only,) = failed
    assert "::test_optimal" in only
    assert "deadline" not in ran.stdout.lower()
    assert "AssertionError: the assignment" in ran.stdout
    assert "a better one: {" in ran.stdout


def test_the_message_is_as_on_the_page() -> None:
    ((_, _, shown),) = blocks("text", [PAGE])
    instance = json.loads(shown.partition("instance: ")[2].partition("assignment: ")[0])
    with pytest.raises(AssertionError) as caught:
        assert_optimal(instance, {"b": [("t", 0)], "a": [("t", 1)]})
    assert f"AssertionError: {caught.value}".split() == shown.split()
