"""Spark's Java starts from an archive of classes, if there is one that fits."""

from __future__ import annotations

import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.java import java_home
from pipeline.class_archive import (
    class_archive,
    reading_options,
    write_class_archive,
)

PROGRAM = """
public class Program {
    public static void main(String[] words) { System.out.println("done"); }
}
"""


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Python environment whose path has spaces, so far without an archive."""
    folder = tmp_path / "an environment"
    monkeypatch.setattr(sys, "prefix", str(folder))
    assert reading_options(java_home()) == []
    return folder


def write(data: bytes) -> Path:
    def run(options: str) -> None:
        written, silent = shlex.split(options)
        assert silent in ("-Xlog:cds*=off", "-Xlog:aot*=off")
        Path(written.partition("=")[2]).write_bytes(data)

    return write_class_archive(java_home(), run)


def test_the_newest_archive_is_the_only_one(environment: Path) -> None:
    write(b"first")
    path = write(b"second one")
    assert path.read_bytes() == b"second one"
    assert class_archive(java_home()) == path
    assert [file.name for file in path.parent.iterdir() if file.is_file()] == [
        path.name
    ]
    assert path.is_relative_to(environment)
    (option,) = shlex.split(reading_options(java_home())[0])
    assert option.partition("=")[2] == str(path)


@pytest.mark.parametrize(
    ("version", "write", "read"),
    [
        ("17.0.15", "ArchiveClassesAtExit", "SharedArchiveFile"),
        ("25.0.2", "AOTCacheOutput", "AOTCache"),
    ],
)
def test_each_java_has_its_own_options(version: str, write: str, read: str) -> None:
    runtime, written = replace(java_home(), version=version), list[str]()

    def run(options: str) -> None:
        option, _ = shlex.split(options)
        written.append(option.partition("=")[0])
        Path(option.partition("=")[2]).write_bytes(b"archive")

    write_class_archive(runtime, run)
    assert written == [f"-XX:{write}"]
    assert reading_options(runtime)[0].startswith(f'"-XX:{read}=')


def test_an_archive_that_was_cut_short_is_not_used() -> None:
    """Java would die of it: it maps the file without a look at its length."""
    path = write(b"whole")
    path.write_bytes(b"who")
    assert class_archive(java_home()) is None
    assert reading_options(java_home()) == []


def test_a_java_that_writes_none() -> None:
    with pytest.raises(FileNotFoundError):
        write_class_archive(java_home(), lambda _: None)
    assert class_archive(java_home()) is None


@pytest.mark.heavy
def test_an_archive_that_does_not_fit_is_ignored_silently() -> None:
    """One of other classes, and one of no classes at all."""
    java = java_home().home / "bin" / "java"
    source = Path(sys.prefix) / "Program.java"

    def java_with(options: list[str]) -> subprocess.CompletedProcess[str]:
        command = [str(java), *options, str(source)]
        return subprocess.run(command, check=True, capture_output=True, text=True)

    write(b"no archive")
    source.write_text(PROGRAM)
    words = [shlex.split(option)[0] for option in reading_options(java_home())]
    ran = java_with(words)
    assert (ran.stdout, ran.stderr) == ("done\n", "")
