"""Ways to run ``python -m verify``, and documents for it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import verify
from tests.support.shapes import Document
from verify.command import main

ROOT = Path(__file__).parents[2]
AS_CLAIMED: Document = {
    "format": "assignment/1",
    "members": {"a": {"t": [0, 1]}, "b": {"u": [0]}, "c": {"v": [0]}, "d": {}},
}
EVEN: Document = {
    "format": "assignment/1",
    "members": {"a": {"t": [0]}, "b": {"t": [1]}, "c": {"u": [0]}, "d": {"v": [0]}},
}
WRONG: Document = {"format": "assignment/1", "members": {"a": {}, "b": {}, "c": {}}}

# What a machine has that has nothing: no site-packages, no environment, no cwd.
BARE = (
    f"import runpy, sys; sys.path.append({str(ROOT)!r}); sys.argv[0] = 'verify';"
    "runpy.run_module('verify', run_name='__main__', alter_sys=True)"
)


def run(
    *arguments: object, text: bytes | None = None, code: str = BARE
) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-I", "-S", "-c", code, *map(str, arguments)]
    return subprocess.run(
        command, input=text, capture_output=True, check=False, timeout=60
    )


class Files:
    """A folder to write documents into."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(
        self, name: str, *documents: Document | bytes, indent: int = 0
    ) -> Path:
        lines = [
            document
            if isinstance(document, bytes)
            else json.dumps(document, indent=indent or None).encode()
            for document in documents
        ]
        path = self.folder / name
        path.write_bytes(b"\n".join(lines) + b"\n" * bool(lines))
        return path


def verdict_on(instance: str | bytes, assignment: str | bytes, **options: Any) -> Any:
    """Judge two texts; a text that cannot be read is a verdict too."""
    try:
        first = verify.read_rebalance(instance)
    except verify.Unreadable as error:
        return verify.unreadable(error, document="instance")
    try:
        second = verify.read_assignment(assignment)
    except verify.Unreadable as error:
        name = first.get("id")
        return verify.unreadable(error, document="assignment", case_id=name)
    return verify.judge(first, second, **options)


def judged(
    capfdbinary: pytest.CaptureFixture[bytes], *arguments: object
) -> tuple[int, Any, str]:
    """Run in this process; return exit code, verdicts and what went to stderr."""
    code = main([str(argument) for argument in arguments])
    out, err = capfdbinary.readouterr()
    return code, [json.loads(line) for line in out.splitlines()], err.decode()


Capture = pytest.CaptureFixture[bytes]
