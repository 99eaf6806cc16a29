"""Install Debian's packages, where root on Debian or a derivative runs this."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

DOWNLOAD_SECONDS = 600


def install_packages(*names: str) -> str | None:
    """Install packages as root; return the error, else None.

    ``apt-get`` refuses to run twice at once: another installation of ours goes first.
    """
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        return "only root can install packages, with apt-get"
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "--yes", "--no-install-recommends", *names]
    with Path(__file__).open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        return run_quietly(["apt-get", "update"], environment) or run_quietly(
            install, environment
        )


def run_quietly(
    command: Sequence[str], environment: Mapping[str, str], folder: str | None = None
) -> str | None:
    """Run a command; return the line of its output that explains a failure."""
    try:
        ran = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=DOWNLOAD_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"no end after {DOWNLOAD_SECONDS} s"
    if ran.returncode == 0:
        return None
    said = [line for line in (ran.stdout + ran.stderr).splitlines() if line.strip()]
    errors = [line for line in said if "rror" in line] or said
    return (errors or ["no output"])[0].strip()
