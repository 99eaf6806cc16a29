"""An audit that is killed in a stage is continued, and nothing is left of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final

import psutil
import pytest

from oracle.report import write_page
from pipeline.audit_writing import OLD, staging
from pipeline.files import LocalStore, local_path
from pipeline.tables import MANIFEST, PAGE, TABLES
from tests.oracle.report.scenes import small_audit
from tests.pipeline.audit_files import (
    FIRST_LOOK,
    JUDGED_FILES,
    files_of,
    parts_to_judge,
    tables_of,
)
from tests.support.killing import killed_at
from tests.support.waiting import wait_until
from tests.support.wire import RECORDINGS

ROOT: Final = RECORDINGS.parent
MASTER: Final = "local[2]"
REQUEST_NAME: Final = "asked"

# The replacement of an audit, killed before each change of a file.


class FolderStore(LocalStore):
    """Folders of this machine as if they were remote: copied here and there."""

    def rename(self, uri: str, target: str) -> None:
        assert not local_path(target).exists()
        super().rename(uri, target)

    @contextmanager
    def locked(self, _uri: str, _name: str) -> Iterator[None]:
        yield

    @contextmanager
    def here(self, uri: str, names: Iterable[str]) -> Iterator[Path]:
        with tempfile.TemporaryDirectory() as scratch:
            for name in names:
                assert (local_path(uri) / name).is_dir()
                (Path(scratch) / name).mkdir()
            yield Path(scratch)

    def upload(self, source: Path, uri: str) -> None:
        local_path(uri).write_bytes(source.read_bytes())


def written(out: Path, store: LocalStore, text: str) -> None:
    """Write an audit whose files all have one text."""

    def page(folder: Path) -> None:
        (folder / PAGE).write_text(text)

    with staging(out, store, REQUEST_NAME) as place:
        folder = out / ".unfinished" / REQUEST_NAME
        for name in ("cases-1", "cases-1.done", *TABLES):
            (folder / name).mkdir(exist_ok=True)
        for name in TABLES:
            (folder / name / "part").write_text(text)
            place.work.finish(name)
        place.commit({"text": text}, page)


def texts_of(out: Path) -> set[str]:
    """Return the texts of the visible files; of a whole audit, there is one."""
    assert {path.name for path in out.glob("[!.]*")} == {MANIFEST, PAGE, *TABLES}
    files = [path for path in out.glob("[!.]*/*") if path.is_file()]
    assert len(files) == len(TABLES)
    manifest = "new" if '"new"' in (out / MANIFEST).read_text() else "old"
    return {manifest, (out / PAGE).read_text(), *(path.read_text() for path in files)}


@pytest.mark.heavy
@pytest.mark.parametrize("store", [LocalStore(), FolderStore()])
def test_a_replacement_that_is_killed(store: LocalStore, tmp_path: Path) -> None:
    """The old or the new audit is whole, or the old one is restored."""
    change, is_killed, seen = 0, True, set[str]()
    while is_killed:
        change += 1
        out = tmp_path / str(change)
        written(out, store, "old")
        is_killed = killed_at(change, partial(written, out, store, "new"))
        if (out / MANIFEST).exists():
            seen |= texts_of(out)
            assert len(texts_of(out)) == 1, change
        else:
            assert (out / OLD / MANIFEST).exists(), change
        with pytest.raises(KeyboardInterrupt), staging(out, store, REQUEST_NAME):
            raise KeyboardInterrupt  # another run that ends before it writes
        assert len(texts_of(out)) == 1, change
        written(out, store, "new")
        assert texts_of(out) == {"new"}, change
        assert not [path for path in out.iterdir() if path.name[0] == "."], change
    assert seen == {"old", "new"}
    assert change > 2 * len(TABLES)


# The command, killed in each stage.


class KilledRun:
    """An audit by the command line, of which only the command is killed."""

    def __init__(self, out: str, folder: Path, master: str = MASTER) -> None:
        self._errors = folder / "errors"
        command = [sys.executable, "-m", "oracle", "audit", str(FIRST_LOOK)]
        command += ["--out", out, "--assignors", "optimum", "--master", master]
        with self._errors.open("wb") as file:
            self.process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=os.environ | {"HADOOP_CONF_DIR": str(folder / "hadoop")},
                stdout=subprocess.DEVNULL,
                stderr=file,
                start_new_session=True,
            )

    @property
    def has_ended(self) -> bool:
        return self.process.poll() is not None

    @property
    def said(self) -> list[str]:
        lines = self._errors.read_text().splitlines()
        return [line.removeprefix("assignor-oracle: ") for line in lines]

    def kill_in(self, stage: str, holds: Callable[[], bool]) -> list[psutil.Process]:
        """Kill the command in a stage; return the processes that it had started."""

        def is_there() -> bool:
            assert not self.has_ended, self.said
            return stage in self.said and holds()

        wait_until(is_there, seconds=300)
        started = psutil.Process(self.process.pid).children(recursive=True)
        self.process.kill()
        assert self.process.wait() == -signal.SIGKILL
        return started


def mounted(folder: Path) -> str:
    """Mount a folder under a name that is no path of this machine; return it."""
    (folder / "hadoop").mkdir()
    (folder / "hadoop" / "core-site.xml").write_text(
        "<configuration><property>"
        "<name>fs.viewfs.mounttable.other.link./data</name>"
        f"<value>file://{folder}</value>"
        "</property></configuration>"
    )
    return "viewfs://other/data"


def visible(out: Path) -> dict[str, bytes]:
    found = files_of(out).items()
    return {k: v for k, v in found if k[0] != "." and not k.endswith(".crc")}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed")
    run = KilledRun(str(folder / "out"), folder)
    assert run.process.wait(timeout=300) == 0, run.said
    return folder / "out"


STAGES: Final = {
    "reading": None,
    "judging": JUDGED_FILES,
    "writing": ".unfinished/*/*s.done",
    "writing the page": f".unfinished/*/{MANIFEST}",
}
"""What is there in the staging folder when the command is killed, by stage."""


@pytest.mark.nightly(minutes=9)
@pytest.mark.parametrize(
    ("stage", "is_remote"),
    [
        *((stage, False) for stage in STAGES),
        *((stage, True) for stage in STAGES if stage != "reading"),
    ],
)
def test_a_command_that_is_killed_is_continued(
    stage: str, is_remote: bool, undisturbed: Path, tmp_path: Path
) -> None:
    """The earlier audit stays; the next run continues; no process remains."""
    out, left = tmp_path / "out", STAGES[stage]
    small_audit().write(out)
    write_page(out, out / PAGE, command="an old audit")
    old = visible(out)
    place = f"{mounted(tmp_path)}/out" if is_remote else str(out)
    run = KilledRun(place, tmp_path)
    started = run.kill_in(stage, lambda: left is None or any(out.glob(left)))
    assert any("java" in process.name() for process in started if process.is_running())
    gone, alive = psutil.wait_procs(started, timeout=60)
    assert not alive, [process.cmdline() for process in alive]
    assert len(gone) >= 1
    if (out / MANIFEST).exists():
        assert visible(out) == old
    else:  # killed while it was replaced
        assert stage == "writing the page"
        assert (out / OLD / MANIFEST).exists()
    is_judged = stage.startswith("writing")
    parts = len(parts_to_judge(out)) if is_judged else 0
    again = KilledRun(place, tmp_path)
    assert again.process.wait(timeout=300) == 0, again.said
    continued = [line for line in again.said if line.startswith("continuing: ")]
    assert len(continued) == (stage != "reading"), again.said
    if is_judged:
        assert continued[0].startswith(
            f"continuing: {parts} of {parts} parts were finished, and "
        )
    assert tables_of(out) == tables_of(undisturbed)
    hidden = {path.name for path in out.iterdir() if path.name[0] == "."}
    checksums = {f".{name}.crc" for name in (MANIFEST, PAGE)}  # of Hadoop
    assert hidden == (checksums if is_remote else set())


@pytest.mark.nightly(minutes=2)
def test_a_killed_executor_changes_nothing(undisturbed: Path, tmp_path: Path) -> None:
    """Its tasks, while they judge, are repeated by the other and by its successor."""
    out = tmp_path / "out"
    run = KilledRun(str(out), tmp_path, "local-cluster[2,1,1024]")
    is_judging = ".unfinished/*/judged-*"
    wait_until(lambda: any(out.glob(is_judging)) or run.has_ended, seconds=300)
    started = psutil.Process(run.process.pid).children(recursive=True)
    executors = [process for process in started if is_executor(process)]
    executors[0].kill()
    assert run.process.wait(timeout=300) == 0, run.said
    assert len(executors) == 2
    assert tables_of(out) == tables_of(undisturbed)


def is_executor(process: psutil.Process) -> bool:
    with suppress(psutil.Error):  # it can have ended
        return any("ExecutorBackend" in word for word in process.cmdline())
    return False
