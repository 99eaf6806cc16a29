"""uv installs, pip takes over where uv fails, and failures are in plain words."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from threading import Timer
from typing import NoReturn

import pytest

from tools import installer
from tools.installer import Installer, SetUpError

ARGUMENTS = ["--require-hashes", "--requirement", "some.lock"]

PROGRAM = """#!/bin/sh
case "$*" in
  *"config list"*) echo "global.index-url='https://me:secret@index.example/s'"; exit;;
esac
echo "{name} $*" >>"{record}"
echo "$UV_DEFAULT_INDEX" >"{record}.index"
{script}
"""


class Place:
    """An environment whose pip and uv are scripts that record how they are run."""

    def __init__(self, venv: Path) -> None:
        self.venv = venv
        self.record = venv / "record"
        self.pip("exit 0")
        self.uv("exit 0")

    def pip(self, script: str) -> None:
        self._write(self.venv / "bin" / "python", "pip", script)

    def uv(self, script: str) -> None:
        self._write(installer.uv_program(self.venv), "uv", script)

    def ran(self) -> list[str]:
        """Return the runs: the program's name and its arguments."""
        return self.record.read_text().splitlines() if self.record.exists() else []

    def _write(self, program: Path, name: str, script: str) -> None:
        program.parent.mkdir(parents=True, exist_ok=True)
        text = PROGRAM.format(name=name, record=self.record, script=script)
        program.write_text(text)
        program.chmod(0o755)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "check out" / ".venv")


def test_uv_installs_with_the_given_arguments_and_the_index_of_pip(
    place: Place,
) -> None:
    Installer(place.venv).install(*ARGUMENTS)
    (run,) = place.ran()
    assert run.startswith("uv pip install ")
    assert f"--python {place.venv}/bin/python" in run
    assert run.endswith(" ".join(ARGUMENTS))
    index = Path(f"{place.record}.index").read_text().strip()
    assert index == "https://me:secret@index.example/s"
    assert "secret" not in run, "others can read a process's arguments"
    assert (place.venv / "cache" / "tmp").is_dir()
    Installer(place.venv).clean()
    assert not (place.venv / "cache").exists()


def test_pip_takes_over_when_uv_fails(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    place.uv("echo 'error: Request failed' >&2; echo '  cause: dns error' >&2; exit 2")
    started = Installer(place.venv)
    started.install(*ARGUMENTS)
    started.install("second")
    uv, first, second = place.ran()
    assert uv.startswith("uv pip install ")
    assert first.startswith("pip -I -m pip install ")
    assert first.endswith(" ".join(ARGUMENTS)), "hashes are required of pip, too"
    assert second.endswith("second")
    (said,) = capsys.readouterr().out.splitlines()
    assert said.endswith("going on with pip (Request failed: dns error)")


def test_pip_installs_where_there_is_no_uv(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    installer.uv_program(place.venv).unlink()
    Installer(place.venv).install(*ARGUMENTS)
    (run,) = place.ran()
    assert run.startswith("pip -I -m pip install ")
    assert capsys.readouterr().out == ""


def test_a_uv_of_another_system(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    """Fetched but not executable here, as when the libc or the processor differs."""
    installer.uv_program(place.venv).write_bytes(b"\x7fELF of another machine")
    Installer(place.venv).install(*ARGUMENTS)
    (run,) = place.ran()
    assert run.startswith("pip -I -m pip install ")
    assert "going on with pip" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("  cause: write: No space left on device (os error 28)", "no space left"),
        ("  cause: Hash mismatch for `wheel==0.48.0`", "not the one that the lock"),
    ],
)
def test_pip_does_not_repeat_a_permanent_failure(
    place: Place, said: str, expected: str
) -> None:
    place.uv(f"echo 'error: Failed' >&2; echo '{said}' >&2; exit 1")
    with pytest.raises(SetUpError, match=expected):
        Installer(place.venv).install(*ARGUMENTS)
    assert len(place.ran()) == 1


def fetched(place: Place, uv_script: str) -> str:
    """Return a script of pip that puts a uv where ``--target`` says."""
    program = installer.uv_program(place.venv)
    text = json.dumps(f"#!/bin/sh\n{uv_script}\n").replace("$", "\\$")
    return (
        f'mkdir -p "{program.parent}"; printf {text} >"{program}"; chmod +x "{program}"'
    )


def test_uv_is_fetched_with_its_hash(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place.pip(fetched(place, "exit 0"))
    Installer(place.venv).fetch_uv(tmp_path / "uv.lock")
    (run,) = place.ran()
    assert "--require-hashes --only-binary :all:" in run
    assert run.endswith(f"--requirement {tmp_path}/uv.lock")
    assert installer.uv_program(place.venv).exists()
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("why", ["no wheel", "does not start"])
def test_a_platform_without_uv_uses_pip(
    place: Place, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if why == "no wheel":
        place.pip("echo 'ERROR: No matching distribution found for uv'; exit 1")
    else:
        place.pip(fetched(place, "echo 'wrong libc' >&2; exit 127"))
    Installer(place.venv).fetch_uv(tmp_path / "uv.lock")
    assert not installer.uv_program(place.venv).exists()
    (said,) = capsys.readouterr().out.splitlines()
    reason = "No matching distribution" if why == "no wheel" else "wrong libc"
    assert said.startswith("set-up: installing with pip")
    assert reason in said


UNREACHABLE = (
    "WARNING: Retrying (Retry(total=4)) after connection broken by "
    "'NewConnectionError: [Errno -3] Temporary failure in name resolution'"
)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (UNREACHABLE, "index does not answer"),
        ("OSError: [Errno 28] No space left on device", "no space left"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES", "not the one that the"),
    ],
)
def test_a_failure_to_fetch_uv_is_no_reason_to_go_on(
    place: Place, tmp_path: Path, said: str, expected: str
) -> None:
    place.pip(f'echo "{said}"; exit 1')
    with pytest.raises(SetUpError, match=expected):
        Installer(place.venv).fetch_uv(tmp_path / "uv.lock")


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ([UNREACHABLE, "ERROR: No matching distribution"], "index does not answer"),
        (["OSError: [Errno 28] No space left on device\n"], "no space left"),
        (["ERROR: THESE PACKAGES DO NOT MATCH THE HASHES\n"], "not the one that the"),
        (["ERROR: something else\n"], "something else"),
    ],
)
def test_a_failure_is_put_in_plain_words(
    place: Place, said: list[str], expected: str
) -> None:
    installer.uv_program(place.venv).unlink()
    place.pip("cat <<'END'\n" + "\n".join(said) + "\nEND\nexit 1")
    with pytest.raises(SetUpError) as error:
        Installer(place.venv).install(*ARGUMENTS)
    assert expected in str(error.value)
    assert f"its whole output: {place.venv}/pip.log" in str(error.value)


def test_a_half_unpacked_package_is_forgotten(tmp_path: Path) -> None:
    packages = tmp_path / "lib" / "python3.11" / "site-packages"
    for name, files in (("whole", ["METADATA", "INSTALLER"]), ("half", ["METADATA"])):
        folder = packages / f"{name}-1.dist-info"
        folder.mkdir(parents=True)
        for file in files:
            (folder / file).touch()
    installer.forget_half_installed(tmp_path)
    assert [path.name for path in packages.iterdir()] == ["whole-1.dist-info"]


@pytest.mark.parametrize("live", [True, False])
def test_the_last_line_of_the_output_and_the_time_are_shown(
    place: Place,
    live: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """On a terminal in place; otherwise as occasional lines."""
    seconds = "TERMINAL_SECONDS" if live else "LOG_SECONDS"
    monkeypatch.setattr(installer, seconds, 0.05)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: live)
    (place.venv / "pip.log").write_text("an earlier run\n")
    done = place.venv / "done"
    place.uv(f'echo "Downloading numpy (15.0MiB)"; until [ -e "{done}" ]; do :; done')
    Timer(0.5, done.touch).start()
    Installer(place.venv).install(*ARGUMENTS)
    shown = capsys.readouterr().out
    assert "  Downloading numpy (15.0MiB) (0 s)" in shown
    assert "an earlier run" not in shown
    assert shown.endswith("\r\033[K" if live else " s)\n")


def test_an_interrupted_installer_is_ended(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(process: subprocess.Popen[bytes], *_: object) -> NoReturn:
        processes.append(process)
        raise KeyboardInterrupt

    processes: list[subprocess.Popen[bytes]] = []
    monkeypatch.setattr(installer, "watch", interrupt)
    place.uv("exec sleep 60")
    with pytest.raises(KeyboardInterrupt):
        Installer(place.venv).install(*ARGUMENTS)
    assert processes[0].returncode is not None
