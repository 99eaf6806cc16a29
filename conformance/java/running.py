"""Run a Java program to its end: to fetch, to compile, or to ask for its version."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from typing import Final

from rebalance import OutsideError

SHOWN: Final = 2000  # characters of a failed program's output


def run_to_end(
    command: Sequence[str], *, seconds: float
) -> subprocess.CompletedProcess[str] | str:
    """Run a command without input; return its output, or why there is none."""
    try:
        return subprocess.run(  # noqa: S603  # the user's own Java, and our jars
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"no answer in {seconds:g} s"
    except OSError as error:
        return f"does not start: {error.strerror}"


def run_java(command: Sequence[str], *, what: str, seconds: float) -> None:
    """Run a command that must succeed; ``what`` is a verb for the error message.

    Raises
    ------
    OutsideError
        If it does not start, fails, or takes longer than ``seconds``.
    """
    ran = run_to_end(command, seconds=seconds)
    if isinstance(ran, str):
        raise OutsideError(f"cannot {what}: {command[0]}: {ran}")
    if ran.returncode:
        output = (ran.stdout + ran.stderr).strip()[:SHOWN]
        raise OutsideError(f"cannot {what}: {output}")
