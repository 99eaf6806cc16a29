"""Sessions: commands with what they print, as files (``snapshots/sessions``).

A line of a session begins with its kind:

- ``#``: a comment;
- ``> FILE TEXT`` appends a line to a file of the working directory;
- ``$ COMMAND`` runs a subcommand. ``COLUMNS=80`` before it lets standard output be a
  terminal of that width, ``< FILE`` after it is standard input, and ``| .a.b .c`` shows
  of each JSON document that it writes only these values. ``PYTHON`` is this Python.

What a command prints follows it: standard output, standard error behind ``!``, new
files behind ``+``, and the exit code behind ``=``, unless it is 0. ``make snapshots``
writes all of that anew.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from typing import Any

import pytest

from tests.oracle.cli.commands import Cli, Ended
from tests.oracle.report.scenes import AUDITS
from tests.support.snapshots import FOLDER, check_snapshot

ROOT = Path(__file__).parents[3]
_VERSION = re.compile(r"(?<=[(\"])(min-cost-flow|cp-sat|highs) [^)\"]+")
"""An engine, with its version."""
SESSIONS = sorted(path.stem for path in (FOLDER / "sessions").glob("*.txt"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with the examples of the documentation."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])  # of families of its own
    Path("examples").symlink_to(ROOT / "docs" / "examples")
    return tmp_path


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session(
    name: str, folder: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    kept = (FOLDER / "sessions" / f"{name}.txt").read_text("utf-8")
    for audit, made in AUDITS.items():
        if f"audits/{audit}" in kept:
            made().write(folder / "audits" / audit)
    lines = replayed(kept.splitlines(), capsysbinary)
    check_snapshot(f"sessions/{name}.txt", "".join(f"{line}\n" for line in lines))


def replayed(lines: list[str], captured: pytest.CaptureFixture[bytes]) -> Iterator[str]:
    """Yield the lines of a session as they are now."""
    for line in lines:
        kind, _, rest = line.partition(" ")
        if kind in ("#", ">", "$"):
            yield line
        if kind == ">":
            name, _, text = rest.partition(" ")
            with Path(name).open("a", encoding="utf-8") as file:
                file.write(f"{text}\n")
        elif kind == "$":
            yield from said(rest, captured)


def said(command: str, captured: pytest.CaptureFixture[bytes]) -> Iterator[str]:
    """Run a command, and yield what it prints."""
    before = {*Path().iterdir(), Path("__pycache__")}
    command, _, wanted = command.partition(" | ")
    command, _, given = command.partition(" < ")
    first, *words = shlex.split(command.replace("PYTHON", sys.executable))
    variable, _, columns = first.partition("COLUMNS=")
    cli = Cli(captured, int(columns) if columns else None)
    stdin = Path(given).read_bytes() if given else b""
    ended = cli(*[variable] * (not columns), *words, stdin=stdin)
    places = {str(Path.cwd()): ".", sys.executable: "PYTHON"}
    for line in (*shown(ended, wanted.split()), *map("! {}".format, ended.complaints)):
        yield reduce(lambda text, place: text.replace(*place), places.items(), line)
    yield from sorted(f"+ {path}" for path in {*Path().iterdir()} - before)
    if ended.code:
        yield f"= {ended.code}"


def shown(ended: Ended, wanted: list[str]) -> list[str]:
    """Return standard output, or the values that are wanted of each document."""
    text = _VERSION.sub(r"\1", ended.out.decode())
    if not wanted:
        return text.splitlines()
    return [
        "  ".join(_text(_at(json.loads(line), path.split(".")[1:])) for path in wanted)
        for line in text.splitlines()
    ]


def _at(document: Any, keys: list[str]) -> Any:
    """Return a value of a document; None if there is none; ``*`` stands for all."""
    for place, key in enumerate(keys):
        if key == "*":
            return [_at(element, keys[place + 1 :]) for element in document]
        if isinstance(document, list):
            document = document[int(key)] if int(key) < len(document) else None
        else:
            document = (document or {}).get(key)
    return document


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
