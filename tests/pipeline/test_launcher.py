"""The script that starts Java for Spark."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from conformance.java import JavaRuntime
from pipeline.launcher import LEFT_OUT, launch_home
from rebalance import OutsideError, private_folder
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


@pytest.fixture
def unwritable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> JavaRuntime:
    """A runtime for an environment in which no folder can be made."""
    (tmp_path / "java").write_text("in the way")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return JavaRuntime(home=tmp_path, origin="PATH", version="17")


def test_an_environment_that_cannot_be_written_to(
    tmp_path: Path, unwritable: JavaRuntime
) -> None:
    (tmp_path / "temporary").mkdir()
    home = launch_home(unwritable)
    assert home.is_relative_to(private_folder())
    assert (home / "bin" / "java").stat().st_mode & 0o777 == 0o755
    assert launch_home(unwritable) == home


def test_nor_can_the_temporary_folder(unwritable: JavaRuntime) -> None:
    with pytest.raises(OutsideError, match=r"write Spark's launcher: .*; nor a temp"):
        launch_home(unwritable)
