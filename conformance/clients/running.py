"""Run a Java program that fetches or compiles, to its end."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from typing import Final

from rebalance import OutsideError

SHOWN: Final = 2000  # characters of what a program said when it failed


def run_java(command: Sequence[str], *, what: str, seconds: float) -> None:
    """Run a command that must succeed.

    Raises
    ------
    OutsideError
        If it does not start, fails or takes too long: ``cannot``, ``what``, and why.
    """
    try:
        ran = subprocess.run(  # noqa: S603  # the Java that was found, and our jars
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise OutsideError(f"cannot {what}: not done in {seconds:g} s") from None
    except OSError as error:
        raise OutsideError(f"cannot {what}: {error}") from error
    if ran.returncode:
        said = (ran.stdout + ran.stderr).strip()[:SHOWN]
        raise OutsideError(f"cannot {what}: {said}")
