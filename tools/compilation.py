"""Compile the kernels in processes of their own, and the modules of the packages."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tools.progress import say, shown

PACKAGES = ("solver", "heuristics", "pipeline")
MARKS = (b"njit", b"@kernel", b"@borrowing_kernel", b"@always_compiled")
"""Of sources with kernels; the decorator itself is in `rebalance`."""
MODULES = ("oracle.cli.runs.audit", "oracle.cli.runs.solve", "pyspark.worker")
"""What the audit and ``solve`` import, in their own process and in Spark's."""


def digest_of_kernels(root: Path) -> bytes:
    """Return a digest of what compiled kernels depend on: sources and compiler."""
    lock = root / "requirements" / "kernel-packages.lock"
    digest = hashlib.sha256(lock.read_bytes())
    for package in (*PACKAGES, "rebalance"):
        for path in sorted((root / package).rglob("*.py")):
            text = path.read_bytes()
            if any(mark in text for mark in MARKS):
                digest.update(hashlib.sha256(text).digest())
    return digest.digest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Compilation:
    """A compilation that has been started; without it, the first command compiles."""

    process: subprocess.Popen[bytes]
    log: Path

    def wait(self) -> None:
        """Wait until every kernel is compiled; say so if one cannot be compiled."""
        with shown("  compiling kernels"):
            code = self.process.wait()
        if code:
            self.stop()
            said = self.log.read_text(errors="replace").splitlines()
            reason = (said or [f"exit code {code}"])[-1]
            say(f"kernels will be compiled when they are first needed ({reason})")

    def stop(self) -> None:
        """End the compilation with all its processes."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def start_compilation(root: Path, venv: Path) -> Compilation:
    """Start to compile every kernel again.

    Existing compiled kernels are removed, because numba detects neither a change in a
    kernel that another one calls, nor a renamed module whose types it saved.
    """
    for package in PACKAGES:
        for compiled in (root / package).rglob("__pycache__/*.nb[ci]"):
            compiled.unlink(missing_ok=True)
    log = venv / "kernels.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(venv / "bin" / "python"), "-m", "tools.kernels"],
            cwd=root,
            env=_writing_environment(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # `stop` ends its processes, too
        )
    return Compilation(process=process, log=log)


def compile_modules(root: Path, venv: Path) -> None:
    """Import what the commands import, so that Python stores its bytecode.

    uv installs sources alone, and to compile every module takes several times longer.
    Whatever fails to be imported here fails with a message in the command itself.
    """
    subprocess.run(
        [str(venv / "bin" / "python"), "-c", f"import {', '.join(MODULES)}"],
        cwd=root,
        env=_writing_environment(),
        capture_output=True,
        check=False,
    )


def _writing_environment() -> dict[str, str]:
    """Return the environment in which Python stores bytecode in ``.venv``."""
    dropped = {"PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"}
    return {name: os.environ[name] for name in os.environ if name not in dropped}
