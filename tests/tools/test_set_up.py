"""When an environment is replaced, repaired, or kept."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, cast

import pytest

from tools import installer, set_up
from tools.compilation import Compilation


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


@pytest.mark.parametrize("share", set_up.SHARES)
def test_every_lock_is_installed_with_hashes(
    venv: Path, share: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only our own checkout, which no lock names, is installed without."""
    ran: list[list[str]] = []

    def install(
        _: installer.Installer, arguments: list[str], *, lock: Path | None = None
    ) -> None:
        ran.append(arguments)
        assert lock is None or arguments[-1] == str(lock)

    monkeypatch.setattr(installer.Installer, "install", install)
    for step in set_up.steps(share):
        if step.name not in {"uv", "kernels", "modules", "spark-classes"}:
            step.run()
    (own,) = [arguments for arguments in ran if "--requirement" not in arguments]
    assert own[-2:] == ["--editable", str(set_up.ROOT)]
    locks = [arguments for arguments in ran if arguments is not own]
    assert len(locks) == (4 if share == "dev" else 3)
    for arguments in locks:
        assert "--require-hashes" in arguments
        only = arguments.index("--only-binary")
        assert arguments[only + 1] == ":all:"


def test_kernels_compile_while_most_packages_are_fetched() -> None:
    names = [step.name for step in set_up.steps("dev")]
    assert names[0] == "uv"
    assert names.index("build") < names.index("runtime")  # builds pyspark
    assert names.index("kernel-packages") < names.index("kernels")
    assert names.index("kernels") < names.index("runtime") < names.index("dev")
    assert names.index("project") < names.index("modules")  # which import the project


def test_what_waits_begins_when_the_kernels_are_compiled(
    venv: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An audit during the compilation would compile the same kernels again."""
    (last,) = [step for step in set_up.steps("dev") if step.waits]
    assert last.name == "spark-classes"
    order: list[str] = []

    class Ends:
        def wait(self) -> None:
            order.append("kernels")

    going_on = cast("Compilation", Ends())
    plan = [
        set_up.Step(name="kernels", words="", made_from=b"", run=lambda: going_on),
        set_up.Step(
            name="after",
            words="",
            made_from=b"",
            run=lambda: order.append("after"),
            waits=True,
        ),
    ]
    monkeypatch.setattr(set_up, "steps", lambda _: plan)
    assert set_up.set_up("dev") is True
    assert order == ["kernels", "after"]
    assert set_up.read_marks().keys() >= {"kernels", "after"}
    assert "nothing else" in run_and_say("print('a'); print('nothing else')")
    assert "exit code 3" in run_and_say("raise SystemExit(3)")


def run_and_say(code: str) -> str:
    with redirect_stdout(StringIO()) as said:
        set_up.print_output([sys.executable, "-c", code])
    return said.getvalue()


class Endless:
    """Stands for a compilation; notes what is done with it."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def wait(self) -> None:
        self.notes.append("waited")

    def stop(self) -> None:
        self.notes.append("stopped")


def plan_with(
    going_on: Endless, last: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    kernels: Any = going_on
    first = set_up.Step(name="kernels", words="k", made_from=b"", run=lambda: kernels)
    second = set_up.Step(name="lock", words="l", made_from=b"", run=last)
    monkeypatch.setattr(set_up, "steps", lambda _: [first, second])


def test_what_goes_on_is_marked_when_it_has_ended(
    venv: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compilation = Endless()

    def last() -> None:
        assert compilation.notes == []
        assert "kernels" not in set_up.read_marks()

    plan_with(compilation, last, monkeypatch)
    assert set_up.set_up("runtime") is True
    assert compilation.notes == ["waited"]
    assert {"kernels", "lock"} <= set_up.read_marks().keys()
    assert set_up.set_up("runtime") is False


@pytest.mark.parametrize("error", [installer.SetUpError("no"), KeyboardInterrupt()])
def test_what_goes_on_is_stopped_when_another_step_fails(
    venv: Path, error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    compilation = Endless()

    def last() -> None:
        raise error

    plan_with(compilation, last, monkeypatch)
    with pytest.raises(type(error)):
        set_up.set_up("runtime")
    assert compilation.notes == ["stopped"]
    assert set_up.read_marks() == {"build": "1"}
