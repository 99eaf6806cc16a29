"""``python -m verify``: whatever the input and the streams, never a traceback."""

from __future__ import annotations

import errno
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.support.shapes import CHAIN, shape
from tests.verify.commands import BARE, EVEN, Capture, Files, judged, run


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: INSTANCE, ASSIGNMENT"),
        (["i"], "the following arguments are required: ASSIGNMENT"),
        (["i", "a", "b"], "unrecognized arguments: b"),
        (["i", "a", "--claim-rule", "x"], "argument --claim-rule: invalid choice: 'x'"),
    ],
)
def test_bad_usage(arguments: list[str], message: str) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, b"")
    assert message in done.stderr.decode()
    assert b"usage: python -m verify" in done.stderr


def test_help() -> None:
    done = run("--help")
    assert (done.returncode, done.stderr) == (0, b"")
    for words in (b"INSTANCE", b"--claim-rule", b"--cooperative", b"exit code: 0"):
        assert words in done.stdout


def test_both_from_standard_input(capfdbinary: Capture) -> None:
    code, verdicts, err = judged(capfdbinary, "-", "-")
    assert (code, verdicts) == (2, [])
    message = "only one of INSTANCE and ASSIGNMENT can be standard input"
    assert err == f"verify: {message}\n"


def test_missing_file(files: Files, capfdbinary: Capture) -> None:
    missing = files.folder / "missing"
    code, _, err = judged(capfdbinary, files("i", CHAIN), missing)
    assert (code, err) == (2, f"verify: {missing}: No such file or directory\n")


class Broken(io.RawIOBase):
    """A stream that fails when it is read, as a terminal taken away does."""

    def readable(self) -> bool:
        return True

    def readall(self) -> bytes:
        raise OSError(errno.EIO, "Input/output error")


def test_standard_input_that_fails(
    files: Files, capfdbinary: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.TextIOWrapper(io.BufferedReader(Broken()))
    monkeypatch.setattr(sys, "stdin", stream)
    code, verdicts, err = judged(capfdbinary, files("i", CHAIN), "-")
    assert (code, verdicts) == (3, [])
    assert err == "verify: standard input: Input/output error\n"


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (MemoryError(), 3, "verify: not enough memory for input of this size\n"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_ends_that_come_from_outside(
    files: Files,
    capfdbinary: Capture,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    code: int,
    message: str,
) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise error

    monkeypatch.setattr("verify.command.line.judge", fail)
    found, _, err = judged(capfdbinary, files("i", CHAIN), files("a", EVEN))
    assert (found, err) == (code, message)


def test_directory(files: Files, capfdbinary: Capture) -> None:
    code, _, err = judged(capfdbinary, files.folder, files("a", EVEN))
    assert (code, err) == (2, f"verify: {files.folder}: Is a directory\n")


HOSTILE = [
    b"",
    b"\n\n\n",
    b"\x00" * 100,
    bytes(range(256)),
    b"\xef\xbb\xbf{}",
    b"[" * 100_000,
    b'{"format":' * 50_000,
    b'{"format":"rebalance/1","group":"g","topics":' + b"9" * 10_000 + b"}",
    b'{"format":"\\ud800"}',
    b"[1e999, -Infinity]",
    b"{}" * 1000,
    b"{}\n" * 1000,
    b"x" * 10_000_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_input(text: bytes, files: Files) -> None:
    """Either side, a message and code 2; never a traceback."""
    hostile = files.folder / "hostile"
    hostile.write_bytes(text)
    for pair in ((hostile, files("a", EVEN)), (files("i", CHAIN), hostile)):
        done = run(*pair)
        assert done.returncode == 2
        assert done.stderr.startswith(b"verify: ")
        assert b"Traceback" not in done.stderr
        for line in done.stdout.splitlines():
            assert json.loads(line)["verdict"] == "unreadable"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=60), st.binary(max_size=60))
@example(json.dumps(CHAIN).encode(), b"{\n{")
def test_any_bytes(
    files: Files, capfdbinary: Capture, first: bytes, second: bytes
) -> None:
    pair = files("i", first), files("a", second)
    code, verdicts, err = judged(capfdbinary, *pair)
    assert code == 2
    assert err.startswith("verify: ")
    assert all(verdict["verdict"] == "unreadable" for verdict in verdicts)


def test_a_reader_that_leaves(files: Files) -> None:
    """A pipe that closes early ends the run, quietly."""
    instances = files("i", *[CHAIN] * 2000)
    answers = files("a", *[EVEN] * 2000)
    command = [sys.executable, "-I", "-S", "-c", BARE, str(instances), str(answers)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 2


def test_a_full_disk(files: Files) -> None:
    pair = [str(files("i", CHAIN)), str(files("a", EVEN))]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", BARE, *pair],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            timeout=60,
        )
    assert done.returncode == 3
    assert done.stderr == b"verify: standard output: No space left on device\n"


@pytest.mark.parametrize(("closed", "stream"), [("<&-", "input"), (">&-", "output")])
def test_closed_standard_streams(files: Files, closed: str, stream: str) -> None:
    line = f'exec "$0" -I -S -c "$1" "$2" "$3" {closed}'
    pair = (
        ("-", files("a", EVEN))
        if closed == "<&-"
        else (files("i", CHAIN), files("a", EVEN))
    )
    done = subprocess.run(
        ["/bin/sh", "-c", line, sys.executable, BARE, *map(str, pair)],
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert done.stderr == f"verify: standard {stream}: closed\n".encode()


def test_names_survive_any_locale(files: Files) -> None:
    """Names leave as UTF-8, whatever the terminal thinks of them."""
    instance = shape("EVERY_FIELD")
    answer = {"format": "assignment/1", "members": {"\U0001f600": {}}}
    done = run(files("i", instance), files("a", answer))
    culprits = [v.get("member") for v in json.loads(done.stdout)["violations"]]
    assert "\U0001f600" in culprits
    assert "\u00e9".encode() in done.stdout
