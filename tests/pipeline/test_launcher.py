"""The script that starts Java for Spark."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from conformance.java import JavaRuntime
from pipeline.launcher import LEFT_OUT, launch_home
from rebalance import OutsideError
from tests.conformance.test_java import fake_java


@pytest.mark.parametrize(
    ("version", "kept"),
    [
        (
            "17.0.15",
            ["-a b", "--add-opens=java.base/sun.security.action=ALL-UNNAMED", ""],
        ),
        ("25.0.2", ["-a b", ""]),
    ],
)
def test_the_launcher_omits_options_unknown_to_java(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, kept: list[str]
) -> None:
    """Arguments with spaces and empty ones come through as they are."""
    home = tmp_path / "it's a home"
    fake_java(home, version)
    (home / "bin" / "java").write_text('#!/bin/sh\nprintf "[%s]" "$@"\n')
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "environment"))
    runtime = JavaRuntime(home=home, origin="PATH", version=version)
    launcher = launch_home(runtime) / "bin" / "java"
    words = ["-a b", *LEFT_OUT, ""]
    ran = subprocess.run([launcher, *words], capture_output=True, text=True, check=True)
    assert ran.stdout == "".join(f"[{word}]" for word in kept)
    assert launch_home(runtime) / "bin" / "java" == launcher
    assert not list(launcher.parent.glob(".java-*"))


def test_an_environment_that_cannot_be_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "java").write_text("in the way")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    runtime = JavaRuntime(home=tmp_path, origin="PATH", version="17")
    with pytest.raises(OutsideError, match="cannot write Spark's launcher"):
        launch_home(runtime)
