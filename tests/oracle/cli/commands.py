"""Run the command line: in this process, in a child process, and on a terminal."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import shlex
import subprocess
import sys
import termios
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import pytest

from oracle.cli import run
from oracle.cli.printing import sink, terminal
from tests.support.shapes import Document, shape

COMMAND = (sys.executable, "-m", "oracle")
STYLE = re.compile(rb"\x1b\[[0-9;]*m|\x1b\[\?25[lh]|\x1b\[2K|\x1b\[1A|\r")
"""Terminal sequences that rich writes: colors and progress bars."""


PROGRAMS = Path(__file__).parents[2] / "conformance"
FAULTY = PROGRAMS / "faulty_adapter.py"


def failing(error: Exception) -> Callable[..., NoReturn]:
    """Return a function that raises this error, whatever it is given."""

    def fail(*_: object, **_options: object) -> NoReturn:
        raise error

    return fail


def faulty(fault: str) -> str:
    """Return the command of an assignor with a fault."""
    return f"{sys.executable} -S {FAULTY} {shlex.quote(fault)}"


class Ended:
    """How a run ended; ``documents`` are the lines of standard output."""

    def __init__(self, code: int, out: bytes, err: bytes) -> None:
        self.code, self.out, self.err = code, out, err.decode()

    @property
    def documents(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]

    def of(self, kind: str) -> list[Any]:
        """Return the documents of a format."""
        return [document for document in self.documents if document["format"] == kind]

    @property
    def complaints(self) -> list[str]:
        return [
            line.removeprefix("assignor-oracle: ") for line in self.err.splitlines()
        ]


class Cli:
    """Run subcommands in this process; by default, the output is not a terminal.

    With ``columns``, it is as if standard output were a terminal of that width.
    """

    def __init__(
        self, captured: pytest.CaptureFixture[bytes], columns: int | None = None
    ) -> None:
        self.captured, self.columns = captured, columns

    def __call__(self, *arguments: str | Path, stdin: bytes = b"") -> Ended:
        self.captured.readouterr()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
            if self.columns is not None:
                show_as_on_a_terminal(patch, self.columns)
            code = run([str(argument) for argument in arguments])
        out, err = self.captured.readouterr()
        return Ended(code, out, err)


def show_as_on_a_terminal(patch: pytest.MonkeyPatch, columns: int) -> None:
    """Let standard output pass for a terminal."""
    for module in (sink, terminal):
        patch.setattr(module, "is_terminal", lambda stream: stream is sys.stdout)
    patch.setenv("COLUMNS", str(columns))


def shell(script: str, folder: Path) -> Ended:
    """Run a shell script in which ``$ORACLE`` is the command."""
    ended = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        capture_output=True,
        env=os.environ | {"ORACLE": " ".join(COMMAND), "PYTHONPATH": str(Path.cwd())},
        check=False,
        timeout=120,
    )
    return Ended(ended.returncode, ended.stdout, ended.stderr)


def on_terminal(
    *arguments: str, columns: int = 100, env: dict[str, str] | None = None
) -> Ended:
    """Run on a pseudo-terminal; ``err`` is empty, because all output goes there.

    Processes that share out tests state a width in their environment, which is not that
    of the terminal.
    """
    leader, follower = pty.openpty()
    termios.tcsetwinsize(follower, (50, columns))
    outer = os.environ.items()
    kept = {name: value for name, value in outer if name not in {"COLUMNS", "LINES"}}
    environment = {**kept, "TERM": "xterm", "PYTHONUTF8": "1", **(env or {})}
    with subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env=environment,
        close_fds=True,
    ) as process:
        os.close(follower)
        shown = b"".join(_chunks(leader))
        code = process.wait(timeout=120)
    os.close(leader)
    return Ended(code, STYLE.sub(b"", shown), b"")


def _chunks(leader: int) -> Sequence[bytes]:
    chunks: list[bytes] = []
    while True:
        try:
            chunk = os.read(leader, 65536)
        except OSError:  # the other end is closed
            return chunks
        if not chunk:
            return chunks
        chunks.append(chunk)


def write_lines(path: Path, *documents: Document | str) -> str:
    """Write JSON Lines; text is written as it is."""
    lines = [
        document if isinstance(document, str) else json.dumps(document)
        for document in documents
    ]
    path.write_text("".join(f"{line}\n" for line in lines))
    return str(path)


def group_of(
    name: str, subscriptions: dict[str, list[str]], sizes: dict[str, int], **more: Any
) -> Document:
    """Build a rebalance/1 document without claims."""
    return {
        "format": "rebalance/1",
        "group": name,
        "topics": {topic: {"partitions": size} for topic, size in sizes.items()},
        "members": {m: {"subscription": topics} for m, topics in subscriptions.items()},
        **more,
    }


CHAIN: Document = shape("CHAIN") | {"group": "orders", "id": "chain"}
"""KIP-54 balanced as it stands, (2,1,1,0); the optimum is (1,1,1,1), with 3 moves."""

AS_IT_STANDS: Document = {
    "format": "assignment/1",
    "id": "chain",
    "members": {"a": {"t": [0, 1]}, "b": {"u": [0]}, "c": {"v": [0]}, "d": {}},
}
