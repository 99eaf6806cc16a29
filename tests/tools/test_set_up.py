"""When an environment is replaced, repaired, or kept."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tools import installer, set_up


@pytest.fixture
def venv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place for an environment, with a Python that starts and marks that fit."""
    folder = tmp_path / "check out" / ".venv"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(sys.executable)
    monkeypatch.setattr(set_up, "VENV", folder)
    monkeypatch.setattr(set_up, "MARKS", folder / "set-up.json")
    set_up.write_marks({"build": "1"})
    return folder


def test_one_that_fits_is_kept(venv: Path) -> None:
    assert set_up.stale() is None
    assert set_up.read_marks() == {"build": "1"}
    assert not list(venv.glob("*.new"))


def test_one_without_marks_was_never_finished(venv: Path) -> None:
    set_up.MARKS.unlink()
    assert set_up.stale() == "the one there was never finished"


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"identity": 3}'])
def test_marks_that_make_no_sense_count_as_none(venv: Path, text: str) -> None:
    set_up.MARKS.write_text(text)
    assert set_up.stale() == "the one there was never finished"


def test_another_python_needs_another_environment(venv: Path) -> None:
    marks = json.loads(set_up.MARKS.read_text())
    marks["identity"]["python"] = "3.11.0"
    set_up.MARKS.write_text(json.dumps(marks))
    assert set_up.stale() == "it was made with another Python"


def test_a_moved_checkout_needs_another_environment(
    venv: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = venv.rename(venv.with_name("moved"))
    monkeypatch.setattr(set_up, "VENV", moved)
    monkeypatch.setattr(set_up, "MARKS", moved / "set-up.json")
    assert set_up.stale() == "the checkout was moved"


def test_a_python_that_went_away(venv: Path) -> None:
    (venv / "bin" / "python").unlink()
    (venv / "bin" / "python").symlink_to(venv / "gone")
    assert set_up.stale() == "its Python is gone"


def test_a_step_is_done_once_and_again_when_its_source_changes(
    venv: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[str] = []

    def plan(source: bytes) -> None:
        step = set_up.Step(
            name="lock",
            words="installing a lock",
            made_from=source,
            run=lambda: ran.append(source.decode()),
        )
        monkeypatch.setattr(set_up, "steps", lambda _: [step])

    plan(b"one")
    assert set_up.set_up("runtime") is True
    assert set_up.set_up("runtime") is False
    plan(b"two")
    assert set_up.set_up("runtime") is True
    assert ran == ["one", "two"]
    assert capsys.readouterr().out.count("installing a lock") == 2


def test_a_step_that_fails_is_not_marked(
    venv: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise installer.SetUpError("no")

    step = set_up.Step(name="lock", words="w", made_from=b"", run=fail)
    monkeypatch.setattr(set_up, "steps", lambda _: [step])
    with pytest.raises(installer.SetUpError):
        set_up.set_up("runtime")
    assert "lock" not in set_up.read_marks()


def test_a_half_unpacked_package_is_forgotten(tmp_path: Path) -> None:
    packages = tmp_path / "lib" / "python3.11" / "site-packages"
    for name, files in (("whole", ["METADATA", "INSTALLER"]), ("half", ["METADATA"])):
        folder = packages / f"{name}-1.dist-info"
        folder.mkdir(parents=True)
        for file in files:
            (folder / file).touch()
    installer._forget_half_installed(tmp_path)
    assert [path.name for path in packages.iterdir()] == ["whole-1.dist-info"]


UNREACHABLE = (
    "WARNING: Retrying (Retry(total=4)) after connection broken by "
    "'NewConnectionError: [Errno -3] Temporary failure in name resolution'\n"
)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ([UNREACHABLE, "ERROR: No matching distribution\n"], "index does not answer"),
        (["OSError: [Errno 28] No space left on device\n"], "no space left"),
        (["ERROR: THESE PACKAGES DO NOT MATCH THE HASHES\n"], "not the one that the"),
        (["ERROR: something else\n"], "something else"),
    ],
)
def test_a_failure_is_put_in_plain_words(
    tmp_path: Path, said: list[str], told: str
) -> None:
    assert told in installer._reason(said, tmp_path / "pip.log")


def test_progress_names_the_file_and_its_size(tmp_path: Path) -> None:
    progress = installer.Progress(total=3, scratch=tmp_path)
    for line in (
        "Collecting numpy==2.4.6 (from -r runtime.lock (line 3))",
        "  Downloading numpy-2.4.6.whl (16.9 MB)",
    ):
        progress.follow(line)
    unpacked = tmp_path / "pip-unpack-1"
    unpacked.mkdir()
    (unpacked / "numpy-2.4.6.whl").write_bytes(bytes(3 << 20))
    assert str(progress) == "  1 of 3: fetching numpy-2.4.6.whl, 3 MB"
    progress.follow("Installing collected packages: numpy")
    assert str(progress) == "  1 of 3: unpacking"


def test_kernels_that_do_not_compile_are_no_hindrance(
    venv: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What was compiled before goes first: numba would load it and fail."""
    monkeypatch.setattr(set_up, "ROOT", tmp_path)
    cache = tmp_path / "solver" / "__pycache__"
    cache.mkdir(parents=True)
    for name in ("flow.route-1.nbi", "flow.route-1.1.nbc", "flow.pyc"):
        (cache / name).touch()
    python = venv / "bin" / "python"
    python.unlink()
    python.write_text("#!/bin/sh\necho 'no such thing' >&2\nexit 1\n")
    python.chmod(0o755)
    set_up.compile_kernels()
    assert "first needed (no such thing)" in capsys.readouterr().out
    assert [path.name for path in cache.iterdir()] == ["flow.pyc"]
