"""A disk or a file system that fails while input is read is code 3, a path is code 2.

Reaches into `verify.command` and `pipeline.files` to compare their lists with ours.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from oracle.cli import run
from pipeline.files.hadoop_store import errno_of
from pipeline.groups import audit_folder
from pipeline.sources.find import find_sources
from rebalance import DEVICE_FAILURES, OutputError, SourceError, is_device_failure
from tests.oracle.cli.commands import CHAIN, Cli, faulty, write_lines
from tests.oracle.report.scenes import small_audit
from verify.command.device_failures import DEVICE_FAILURES as OF_THE_JUDGE

OF_A_PATH: Final = (
    errno.ENOENT,
    errno.EACCES,
    errno.EPERM,
    errno.EISDIR,
    errno.ENOTDIR,
    errno.ELOOP,
    errno.ENAMETOOLONG,
)
OF_A_DEVICE: Final = (
    errno.EIO,
    errno.ESTALE,
    errno.ENODEV,
    errno.EREMOTEIO,
    errno.ECONNRESET,
    errno.ETIMEDOUT,
    errno.ENOTCONN,
)
BROKEN: Final = "broken"
"""Name of the file that cannot be read."""
DESCRIBED: Final = (
    "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST "
    "CLIENT-ID\ng  t  0  1  1  0  a  /1.1.1.1  a\n"
)
VERBS: Final = {
    "solve": ["solve", BROKEN],
    "solve from": ["solve", "--from", BROKEN],
    "assign": ["assign", "--assignor", "sticky", BROKEN],
    "judge the instance": ["judge", BROKEN, "sound"],
    "judge the assignment": ["judge", "sound", BROKEN],
    "compare": ["compare", BROKEN],
    "explain the instance": ["explain", BROKEN],
    "explain the assignment": ["explain", "sound", BROKEN],
    "front": ["front", BROKEN],
    "plan": ["plan", BROKEN, "--join", "z=t"],
    "fuzz": ["fuzz", "--command", faulty("none"), "--instances", BROKEN],
    "audit": ["audit", BROKEN, "--out", "out"],
    "audit with counts": ["audit", "text", "--out", "out", "--topics", BROKEN],
    "audit with log ends": ["audit", "text", "--out", "out", "--offsets", BROKEN],
    "audit with lag": ["audit", "text", "--out", "out", "--lag", BROKEN],
    "audit a cluster": [
        *("audit", "--bootstrap-server", "localhost:1", "--out", "out"),
        *("--command-config", BROKEN),
    ],
    "snapshot": [
        *("snapshot", "--bootstrap-server", "localhost:1", "--command-config", BROKEN),
    ],
    "solve a cluster": [
        *("solve", "--from", "localhost:1", "--command-config", BROKEN),
    ],
}


class FailingRead(io.RawIOBase):
    """A file of which no byte can be read."""

    def __init__(self, number: int) -> None:
        self._number = number

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, _whence: int = 0) -> int:
        return offset

    def readinto(self, _buffer: Any) -> int:
        raise OSError(self._number, os.strerror(self._number))


@pytest.fixture
def fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[int, str], None]:
    """Return a function that breaks the file `BROKEN` in the working directory."""
    monkeypatch.chdir(tmp_path)
    write_lines(tmp_path / "sound", CHAIN)
    write_lines(tmp_path / BROKEN, CHAIN)
    (tmp_path / "text").write_text(DESCRIBED)
    opened = Path.open

    def breaks(number: int, when: str) -> None:
        def of_file(path: Path, *given: Any, **more: Any) -> Any:
            if path.name != BROKEN:
                return opened(path, *given, **more)
            if when == "open":
                raise OSError(number, os.strerror(number), str(path))
            return io.BufferedReader(FailingRead(number))

        monkeypatch.setattr(Path, "open", of_file)

    return breaks


@pytest.mark.parametrize("when", ["open", "read"])
@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
def test_every_verb_ends_with_3(
    verb: list[str], when: str, fail: Callable[[int, str], None], cli: Cli
) -> None:
    fail(errno.EIO, when)
    ended = cli(*verb)
    assert ended.code == 3, ended.err
    assert len(ended.err.splitlines()) == 1
    assert BROKEN in ended.err
    assert os.strerror(errno.EIO).lower() in ended.err.lower()


@pytest.mark.parametrize("number", [*OF_A_DEVICE, *OF_A_PATH], ids=os.strerror)
@pytest.mark.parametrize("verb", ["solve", "solve from", "snapshot", "audit with lag"])
def test_a_device_is_3_and_a_path_is_2(
    number: int, verb: str, fail: Callable[[int, str], None], cli: Cli
) -> None:
    fail(number, "open")
    ended = cli(*VERBS[verb])
    assert ended.code == (3 if number in OF_A_DEVICE else 2), ended.err


@pytest.mark.parametrize("number", [errno.EIO, errno.ECONNRESET, errno.EISDIR])
@pytest.mark.parametrize(
    "verb", [["solve", "-"], ["judge", "sound", "-"], ["assign", "--assignor", "range"]]
)
def test_standard_input_that_fails(
    number: int,
    verb: list[str],
    fail: Callable[[int, str], None],
    capfdbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fail(number, "read")
    broken = io.BufferedReader(FailingRead(number))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(broken))
    given = verb if verb[-1] == "-" else [*verb, "-"]
    assert run(given) == (2 if number == errno.EISDIR else 3)
    assert b"<stdin>: " in capfdbinary.readouterr().err


@pytest.mark.parametrize(("number", "code"), [(errno.EIO, 3), (errno.EACCES, 2)])
@pytest.mark.parametrize("what", ["manifest", "table"])
def test_the_folder_of_an_audit(
    number: int,
    code: int,
    what: str,
    tmp_path: Path,
    cli: Cli,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def breaks(*_: Any, **__: Any) -> None:
        raise OSError(number, os.strerror(number))

    small_audit().write(tmp_path / "out")
    if what == "table":
        monkeypatch.setattr(audit_folder, "opened_table", breaks)
    else:
        monkeypatch.setattr(Path, "read_bytes", breaks)
    ended = cli("explain", "--from", tmp_path / "out")
    assert ended.code == code, ended.err
    assert os.strerror(number).lower() in ended.err.lower()


@pytest.mark.parametrize("name", ["audit.json", "sink/t+0+0.json", "topics.txt"])
def test_no_file_of_a_folder_is_left_out(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder is not audited without the file that a disk does not return."""
    folder = tmp_path / "sources"
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("{}\n")
    (folder / "groups.txt").write_text(DESCRIBED)
    opened = Path.open

    def of_file(path: Path, *given: Any, **more: Any) -> Any:
        if path.name != Path(name).name:
            return opened(path, *given, **more)
        return io.BufferedReader(FailingRead(errno.EIO))

    monkeypatch.setattr(Path, "open", of_file)
    with pytest.raises((SourceError, OSError)) as error:
        find_sources([folder])
    assert is_device_failure(error.value)


def test_no_folder_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that cannot be listed is no empty folder."""
    (tmp_path / "sources" / "below").mkdir(parents=True)
    (tmp_path / "sources" / "groups.txt").write_text(DESCRIBED)
    scanned = os.scandir

    def breaks(path: Any) -> Any:
        if str(path).endswith("below"):
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))
        return scanned(path)

    monkeypatch.setattr(os, "scandir", breaks)
    with pytest.raises(SourceError, match="Input/output error") as error:
        find_sources([tmp_path / "sources"])
    assert error.value.exit_code == 3


def test_both_lists_are_equal() -> None:
    """The judge imports nothing, and has a list of its own."""
    assert OF_THE_JUDGE == DEVICE_FAILURES
    assert set(OF_A_DEVICE) <= DEVICE_FAILURES
    assert not DEVICE_FAILURES.intersection(OF_A_PATH)


@pytest.mark.parametrize(
    ("kind", "text", "number"),
    [
        ("java.io.IOException", "Input/output error", errno.EIO),
        ("java.nio.file.FileSystemException", "/m/x: Stale file handle", errno.ESTALE),
        ("java.net.ConnectException", "Connection refused", errno.ECONNRESET),
        ("java.net.SocketTimeoutException", "Read timed out", errno.ETIMEDOUT),
        ("java.io.FileNotFoundException", "File file:/x does not exist", None),
        ("java.io.FileNotFoundException", "/x (Permission denied)", None),
        ("java.io.IOException", "No FileSystem for scheme: nope", None),
    ],
)
def test_errors_of_java(kind: str, text: str, number: int | None) -> None:
    """Java states no number of an error."""
    assert errno_of(kind, text) == number


@pytest.mark.parametrize(
    "number", [*sorted(DEVICE_FAILURES), *OF_A_PATH], ids=os.strerror
)
def test_writing_distinguishes_the_same(number: int) -> None:
    code = OutputError(os.strerror(number), target="x").exit_code
    assert code == (3 if number in DEVICE_FAILURES else 2)
