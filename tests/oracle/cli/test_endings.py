"""Exit codes, closed pipes, signals, and full disks; never a traceback."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from oracle.cli.input import given_group
from rebalance import OutsideError
from tests.oracle.cli.commands import (
    AS_IT_STANDS,
    CHAIN,
    COMMAND,
    Cli,
    failing,
    shell,
    write_lines,
)


@pytest.fixture
def source(tmp_path: Path) -> str:
    return write_lines(tmp_path / "r", CHAIN)


def test_the_version_is_the_packages(cli: Cli) -> None:
    ended = cli("--version")
    assert ended.code == 0
    assert re.fullmatch(rb"assignor-oracle \d+\.\d+\.\d+\S*\n", ended.out)


def test_no_arguments_show_the_help(cli: Cli) -> None:
    ended = cli()
    assert ended.code == 2
    assert b"Usage: assignor-oracle" in ended.out
    assert ended.err == ""


DEFECT = (
    "a defect of assignor-oracle, not in your input: ZeroDivisionError: by\\x1bzero"
    " (please report it; ASSIGNOR_ORACLE_TRACEBACK=1 shows a traceback)"
)


@pytest.mark.parametrize(
    ("error", "code", "complaint"),
    [
        (OutsideError("Java is gone"), 3, "Java is gone"),
        (MemoryError(), 3, "not enough memory for this input"),
        (ZeroDivisionError("by\x1bzero"), 70, DEFECT),
    ],
)
def test_an_error_is_one_line_without_a_traceback(
    cli: Cli,
    source: str,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    code: int,
    complaint: str,
) -> None:
    monkeypatch.setattr(given_group, "read_rebalances_or_columns", failing(error))
    ended = cli("solve", source)
    assert (ended.code, ended.complaints) == (code, [complaint])
    monkeypatch.setenv("ASSIGNOR_ORACLE_TRACEBACK", "1")
    with pytest.raises(type(error)):
        cli("solve", source)


@pytest.mark.heavy
def test_a_closed_pipe_is_not_an_error(tmp_path: Path) -> None:
    write_lines(tmp_path / "many", *[CHAIN] * 3000)
    ended = shell('$ORACLE solve many | head -n 1; echo "${PIPESTATUS[0]}"', tmp_path)
    first, code = ended.out.splitlines()
    assert json.loads(first)["id"] == "chain"
    assert code == b"141"
    assert ended.err == ""


@pytest.mark.heavy
def test_a_full_disk_is_code_3(tmp_path: Path, source: str, cli: Cli) -> None:
    (tmp_path / "a").write_bytes(cli("solve", source).out)
    for verb in ("solve r", "judge r a", "--help"):
        ended = shell(f"$ORACLE {verb} > /dev/full", tmp_path)
        assert ended.code == 3
        assert ended.err.startswith("assignor-oracle: <stdout>: ")
        assert ended.err.endswith("no space left on device\n")
        assert len(ended.complaints) == 1
    unwritten = cli("solve", source, "-o", "/dev/full")
    assert unwritten.code == 3
    assert "/dev/full: cannot write: no space left on device" in unwritten.err


@pytest.mark.heavy
def test_closed_streams(tmp_path: Path, source: str) -> None:
    out = shell("$ORACLE solve r >&-", tmp_path)
    assert (out.code, out.complaints) == (2, ["<stdout>: cannot write: is closed"])
    into = shell("$ORACLE solve - <&-", tmp_path)
    assert (into.code, into.complaints) == (2, ["<stdin>: standard input is closed"])
    err = shell("$ORACLE solve absent 2>&-", tmp_path)
    assert (err.code, err.out) == (2, b"")
    both = shell("$ORACLE solve absent >&- 2>&-", tmp_path)
    assert both.code == 2


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)],
)
@pytest.mark.usefixtures("hangups")
def test_a_signal_ends_quietly_and_leaves_nothing(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    target = tmp_path / "answers"
    with subprocess.Popen(
        [*COMMAND, "solve", "-", "-o", str(target)],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(json.dumps(CHAIN).encode() + b"\n")
        process.stdin.flush()
        partial_files = until(
            lambda: [path for path in tmp_path.iterdir() if size(path)]
        )
        process.send_signal(number)
        assert process.wait(timeout=60) == code
        assert process.stderr.read() == b""
    assert partial_files[0].name.startswith(".answers.")
    assert list(tmp_path.iterdir()) == []


def size(path: Path) -> int:
    return path.stat().st_size


def until(found: Callable[[], list[Path]]) -> list[Path]:
    """Wait until the file is not empty."""
    for _ in range(600):
        if there := found():
            return there
        time.sleep(0.1)
    raise AssertionError("nothing came")


def test_places_that_cannot_be_written_to(
    cli: Cli, tmp_path: Path, source: str
) -> None:
    for target, reason in (
        (tmp_path / "no" / "x", "no such file or directory"),
        (tmp_path, "is a folder"),
        (Path(source) / "x", "not a directory"),
        (Path("/proc/x"), "cannot write: "),
        (tmp_path / ("x" * 300), "file name too long"),
    ):
        ended = cli("solve", source, "-o", target)
        assert ended.code == 2
        assert ended.err.startswith(f"assignor-oracle: {target}: cannot write: ")
        assert reason in ended.err
    assert [path.name for path in tmp_path.iterdir()] == ["r"]


@pytest.mark.heavy
def test_devices_pipes_and_links_are_written_to_not_replaced(
    cli: Cli, tmp_path: Path, source: str
) -> None:
    assert cli("solve", source, "-o", "/dev/null").code == 0
    assert Path("/dev/null").is_char_device()
    piped = shell("$ORACLE solve r -o /dev/stdout | cat", tmp_path)
    assert piped.documents[0]["id"] == "chain"
    os.mkfifo(tmp_path / "fifo")
    fifo = shell("cat fifo & $ORACLE solve r -o fifo; wait", tmp_path)
    assert fifo.documents[0]["id"] == "chain"
    (tmp_path / "real").write_text("")
    (tmp_path / "link").symlink_to("real")
    assert cli("solve", source, "-o", tmp_path / "link").code == 0
    assert (tmp_path / "link").is_symlink()
    assert "assignment/1" in (tmp_path / "real").read_text()


@pytest.mark.heavy
def test_answers_come_while_the_input_is_still_open() -> None:
    with subprocess.Popen(
        [*COMMAND, "solve", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(CHAIN).encode() + b"\n" * 2)
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == "chain"
        process.stdin.close()
        assert process.wait(timeout=60) == 0


LOADED = """
import sys
from oracle.cli import run
code = run(sys.argv[2:])
print(*sorted(set(sys.argv[1].split()) & sys.modules.keys()), file=sys.stderr)
sys.exit(code)
"""


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("command", "modules", "loaded"),
    [
        ("solve --help", "pyspark numpy numba pandas altair pyarrow rebalance", ""),
        ("judge r a", "numpy numba solver rich pandas", ""),
        ("solve r", "pyspark pandas altair ortools.sat pulp", ""),
        # Only the KIP-54 optimum needs a solver; CP-SAT brings pandas.
        (
            "compare r --assignors optimum,range,sticky,lag-swaps",
            "ortools pandas pyspark",
            "",
        ),
        ("compare r --assignors all", "ortools pyspark", "ortools"),
    ],
)
def test_a_command_loads_only_what_it_needs(
    command: str, modules: str, loaded: str, tmp_path: Path
) -> None:
    write_lines(tmp_path / "r", CHAIN)
    write_lines(tmp_path / "a", AS_IT_STANDS)
    ended = subprocess.run(
        [sys.executable, "-c", LOADED, modules, *command.split()],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path.cwd())},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stderr.strip() == loaded


@pytest.mark.heavy
def test_completion_names_verbs_and_assignors() -> None:
    def completed(words: str, place: int) -> list[bytes]:
        variables = {
            "_ASSIGNOR_ORACLE_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(place),
        }
        script = "import sys; sys.argv[0] = 'assignor-oracle';"
        script += "from oracle.cli import main; main()"
        ended = subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, **variables},
            capture_output=True,
            check=True,
        )
        return ended.stdout.split()

    assert completed("assignor-oracle so", 1) == [b"solve"]
    assert completed("assignor-oracle assign --assignor r", 3) == [
        b"range",
        b"round-robin",
    ]
