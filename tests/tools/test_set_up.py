"""When an environment is replaced, repaired, or kept, and in which order it is made."""

from __future__ import annotations

import fcntl
import importlib.util
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.waiting import wait_until
from tools import set_up
from tools.installer import Installer, SetUpError

ROOT = set_up.ROOT
PROGRAM = """#!/bin/sh
case "$*" in
  "-I -c import pip") exit 0 ;;
  "-m tools.kernel_compilation") {kernels} ;;
  *) echo "$*" >>"{record}"; {others} ;;
esac
"""


class Place:
    """An environment whose Python is a script that records how it is run."""

    def __init__(self, venv: Path) -> None:
        self.record = venv / "record"
        self.python = venv / "bin" / "python"
        self.python.parent.mkdir(parents=True)
        self.write()

    def write(self, kernels: str = "exit 0", others: str = "exit 0") -> None:
        script = PROGRAM.format(record=self.record, kernels=kernels, others=others)
        self.python.write_text(script)
        self.python.chmod(0o755)

    def note(self, line: str) -> None:
        with self.record.open("a") as record:
            record.write(f"{line}\n")

    def ran(self) -> list[str]:
        """Return the runs of Python and the installer, in order, and forget them."""
        lines = self.record.read_text().splitlines() if self.record.exists() else []
        self.record.unlink(missing_ok=True)
        return lines


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A checkout's environment with marks that fit, and an installer that records."""
    venv = tmp_path / "check out" / ".venv"
    place = Place(venv)
    monkeypatch.setattr(set_up, "VENV", venv)
    monkeypatch.setattr(set_up, "remove_kernels", lambda _: place.note("removed"))
    monkeypatch.setattr(set_up, "digest_of_kernels", lambda _: b"kernels")
    set_up.Marks().write()

    def install(_: Installer, *arguments: str) -> None:
        place.note(" ".join(arguments))

    monkeypatch.setattr(Installer, "install", install)
    monkeypatch.setattr(Installer, "fetch_uv", lambda _, lock: place.note(lock.name))
    return place


def marked() -> dict[str, str]:
    return set_up.Marks().done


def test_one_that_fits_is_kept(place: Place) -> None:
    set_up.Marks().add("uv", b"lock")
    assert set_up.unusable() is None
    assert marked().keys() == {"uv"}
    assert not list(set_up.VENV.glob("*.new"))


def test_one_without_marks_was_never_finished(place: Place) -> None:
    set_up.Marks().file.unlink()
    assert set_up.unusable() == "the one there was never finished"


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"identity": 3}', '{"identity": 3, "steps": {}}']
)
def test_marks_that_make_no_sense_count_as_none(place: Place, text: str) -> None:
    set_up.Marks().file.write_text(text)
    assert set_up.unusable() == "the one there was never finished"


def test_another_python_needs_another_environment(place: Place) -> None:
    marks = json.loads(set_up.Marks().file.read_text())
    marks["identity"]["python"] = "3.11.0"
    set_up.Marks().file.write_text(json.dumps(marks))
    assert set_up.unusable() == "it was made with another Python"


def test_a_moved_checkout_needs_another_environment(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = set_up.VENV.rename(set_up.VENV.with_name("moved"))
    monkeypatch.setattr(set_up, "VENV", moved)
    assert set_up.unusable() == "the checkout was moved"


def test_a_python_that_went_away(place: Place) -> None:
    place.python.write_text("#!/bin/sh\nexit 1\n")
    assert set_up.unusable() == "its Python does not start"
    place.python.unlink()
    place.python.symlink_to(set_up.VENV / "gone")
    assert set_up.unusable() == "its Python is gone"


@pytest.mark.parametrize("has_marks", [True, False])
def test_of_a_linked_environment_only_the_link_is_replaced(
    place: Place, has_marks: bool, tmp_path: Path
) -> None:
    elsewhere = set_up.VENV.rename(tmp_path / "elsewhere")
    if not has_marks:
        (elsewhere / "set-up.json").unlink()
    set_up.VENV.symlink_to(elsewhere)
    before = sorted(elsewhere.rglob("*"))
    (elsewhere / "bin" / "python").write_text("exit 1")
    reason = set_up.unusable()
    assert reason is not None
    set_up.make_environment(reason)
    assert not set_up.VENV.is_symlink()
    assert set_up.unusable() is None
    assert sorted(elsewhere.rglob("*")) == before


def test_a_step_is_done_once_and_again_when_its_source_changes(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[str] = []

    def perform(source: bytes) -> bool:
        marks = set_up.Marks()
        marks.once("lock", "installing a lock", source, ran.append, source.decode())
        return marks.acted

    assert [perform(source) for source in (b"1", b"1", b"2")] == [True, False, True]
    assert ran == ["1", "2"]
    assert capsys.readouterr().out.count("installing a lock") == 2


def fail() -> None:
    raise SetUpError("the reason")


def test_a_step_that_fails_is_not_marked(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SetUpError):
        set_up.Marks().once("lock", "words", b"", fail)
    for step in set_up.OPTIONAL:
        set_up.Marks().once(step, "words", b"", fail)
    assert marked() == {}
    assert capsys.readouterr().out.count("the reason") == len(set_up.OPTIONAL)


def test_bug_an_archive_that_cannot_be_written_is_tried_again(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    """The step was marked whatever became of it."""
    failing = 'case "$*" in *spark_classes*) echo "no archive"; exit 1;; esac'
    place.write(others=failing)
    assert set_up.set_up("runtime") is True
    assert "no archive" in capsys.readouterr().out
    assert "spark-classes" not in marked()
    place.ran()
    place.write(others="echo written")
    assert set_up.set_up("runtime") is True
    assert place.ran() == ["-m tools.spark_classes"]
    assert "set-up: written\n" in capsys.readouterr().out
    assert set_up.set_up("runtime") is False
    assert place.ran() == []


@pytest.mark.parametrize("share", ["runtime", "dev"])
def test_every_lock_is_installed_with_hashes_and_nothing_twice(
    place: Place, share: str
) -> None:
    """Only our own checkout, which no lock names, is installed without."""
    assert set_up.set_up(share) is True
    ran = place.ran()
    assert ran[0] == "uv.lock"
    (own,) = [line for line in ran if "--editable" in line]
    assert own.endswith(f"--editable {ROOT}")
    locks = [line for line in ran if "--requirement" in line]
    assert len(locks) == (3 if share == "dev" else 2)
    for line in locks:
        assert line.startswith("--require-hashes --only-binary :all: ")
    assert set_up.set_up(share) is False
    assert place.ran() == []


def test_kernels_compile_while_most_packages_are_fetched(place: Place) -> None:
    """What waits for them: an audit would compile the same kernels again."""
    record, locks = place.record, "requirements/{}.lock"
    other = locks.format("dev")
    waiting = f'echo begun >>"{record}"; until grep -q {other} "{record}"'
    place.write(kernels=f'{waiting}; do :; done; echo compiled >>"{record}"')
    set_up.set_up("dev")
    order = [
        locks.format("build"),  # builds pyspark
        locks.format("kernel-packages"),
        "removed",  # numba would load the old ones and fail
        "begun",
        locks.format("dev"),
        "compiled",
        "tools.java_launcher",
        "tools.spark_classes",
    ]
    text = "\n".join(place.ran())
    places = [text.index(words) for words in order]
    assert places == sorted(places)
    order = ["removed", locks.format("runtime"), "--editable", set_up.MODULES]
    places = [text.index(words) for words in order]
    assert places == sorted(places)
    assert "kernels" in marked()


def test_kernels_that_do_not_compile_are_no_hindrance(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    place.write(kernels="echo 'no such thing' >&2; exit 1")
    assert set_up.set_up("runtime") is True
    assert "first needed (no such thing)" in capsys.readouterr().out
    assert "java" in marked()
    assert "kernels" not in marked()


@pytest.mark.parametrize("error", [SetUpError("no"), KeyboardInterrupt()])
def test_the_compilation_is_stopped_when_another_step_fails(
    place: Place, error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    child = set_up.VENV / "child"
    start = f'sleep 60 & echo $! >"{child}.new"; mv "{child}.new" "{child}"; wait'
    place.write(kernels=start)

    def install(_: Installer, *arguments: str) -> None:
        if any("runtime.lock" in word for word in arguments):
            wait_until(child.exists, seconds=60)
            raise error

    monkeypatch.setattr(Installer, "install", install)
    with pytest.raises(type(error)):
        set_up.set_up("runtime")
    assert marked().keys() == {"uv", "kernel-packages"}
    wait_until(lambda: not is_alive(int(child.read_text())), seconds=20)


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{process}/stat")
    return not (stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z")


def run_main(monkeypatch: pytest.MonkeyPatch, act: Callable[[str], bool]) -> int:
    monkeypatch.setattr(set_up, "set_up", act)
    monkeypatch.setattr(sys, "argv", ["set_up", "runtime"])
    endings = (signal.SIGTERM, signal.SIGHUP)
    handlers = {ending: signal.getsignal(ending) for ending in endings}
    try:
        return set_up.main()
    finally:
        for ending, handler in handlers.items():
            signal.signal(ending, handler)


def test_a_failure_is_one_message_and_exit_code_1(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(_: str) -> bool:
        fail()
        return True

    assert run_main(monkeypatch, failing) == 1
    assert capsys.readouterr().err == "set-up: the reason\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_end_is_exit_code_130(
    place: Place,
    number: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupted(_: str) -> bool:
        signal.raise_signal(number)
        return True

    assert run_main(monkeypatch, interrupted) == 130
    assert "run it again to go on" in capsys.readouterr().err


def test_a_second_set_up_waits(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    taken: list[int] = []

    def take(_: object, kind: int) -> None:
        taken.append(kind)
        if kind & fcntl.LOCK_NB:
            raise BlockingIOError

    monkeypatch.setattr(fcntl, "flock", take)
    assert run_main(monkeypatch, lambda _: False) == 0
    assert taken == [fcntl.LOCK_EX | fcntl.LOCK_NB, fcntl.LOCK_EX]
    assert "under way, waiting" in capsys.readouterr().out


def test_bytecode_is_stored_whatever_the_environment_says(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Images for containers often set the variable, and every start would be slow."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path / "prefix"))
    package = tmp_path / "ours"
    package.mkdir()
    for name in ("__init__", "part"):
        (package / f"{name}.py").touch()
    place.python.unlink()
    place.python.symlink_to(sys.executable)

    def import_ours(_: str) -> bool:
        code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import ours.part"
        set_up.run_python("-c", code)
        return False

    assert run_main(monkeypatch, import_ours) == 0
    stored = {path.name.split(".")[0] for path in package.glob("__pycache__/*.pyc")}
    assert stored == {"__init__", "part"}


def test_every_module_that_is_compiled_exists() -> None:
    for name in set_up.MODULES.removeprefix("import ").split(", "):
        assert importlib.util.find_spec(name), name
