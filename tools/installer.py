"""Install packages into the environment with uv, or with pip where uv does not work.

uv unpacks in parallel and takes a third of pip's time. pip is always there, reads every
kind of configuration, and has the last word: whatever uv cannot do is done by pip.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.uv_settings import pip_settings, uv_environment

CHECKED = ("--require-hashes", "--only-binary", ":all:")
PERMANENT = {
    "No space left on device": "no space left on the device (.venv needs about 4 GB)",
    "DO NOT MATCH THE HASHES|Hash mismatch for": (
        "a package is not the one that the lock names; nothing was installed"
    ),
}
"""Patterns in the output of uv and pip: the other one would fail, too."""

UNREACHABLE = {
    r"NewConnectionError|ConnectTimeout|ReadTimeout|Read timed out|ProxyError|SSLError"
    r"|NameResolution|name resolution|Max retries exceeded|ConnectionResetError"
    r"|connection broken|Could not fetch URL|IncompleteRead|ProtocolError": (
        "cannot fetch packages: the package index does not answer. Check the network"
        " (a proxy? its certificates?),\nthen run the same command again: completed"
        " steps are kept"
    )
}
_ERROR = re.compile(
    r"(?:.*connection broken by|error:|ERROR:|\s+cause:|\s+Caused by:)(.*)"
)
TERMINAL_SECONDS = 0.5
LOG_SECONDS = 20.0


class SetUpError(Exception):
    """Set-up failed; the message states the reason and the remedy."""


def say(text: str) -> None:
    """Print one line about set-up."""
    print(f"set-up: {text}", flush=True)


def watch(process: subprocess.Popen[bytes], label: str, log: Path, start: int) -> int:
    """Wait for a program; show the last line in its log, or the label, and the time."""
    live, started = sys.stdout.isatty(), time.monotonic()
    while True:
        try:
            code = process.wait(TERMINAL_SECONDS if live else LOG_SECONDS)
        except subprocess.TimeoutExpired:
            last = [label, *lines_of(log, start)][-1].strip()
            text = f"  {last} ({time.monotonic() - started:.0f} s)"
            if live:
                text = f"\r\033[K{text[: shutil.get_terminal_size().columns - 1]}"
            print(text, end="" if live else "\n", flush=True)
        else:
            print(end="\r\033[K" if live else "", flush=True)
            return code


def lines_of(log: Path, start: int = 0) -> list[str]:
    """Return the lines of a log from an offset on."""
    return log.read_bytes()[start:].decode(errors="replace").splitlines()


@dataclass(slots=True)
class Installer:
    """Installs into ``venv``; ``has_uv`` until uv has failed."""

    venv: Path
    has_uv: bool = True

    def install(self, *arguments: str) -> None:
        """Run ``uv pip install``, or else ``pip install``, with the same arguments.

        Raises
        ------
        SetUpError
            If pip failed, with its reason; the full output is in ``pip.log``.
        """
        forget_half_installed(self.venv)
        if self.has_uv and uv_program(self.venv).exists():
            lines = self._run_uv(*arguments)
            if lines is None:
                return
            if known(lines, PERMANENT):
                raise self._error(lines)
            self.has_uv = False
            say(f"uv failed, going on with pip ({': '.join(errors_of(lines))})")
            forget_half_installed(self.venv)
        lines = self._run_pip(*arguments)
        if lines is not None:
            raise self._error(lines)

    def install_locked(self, locks: Sequence[Path], arguments: Sequence[str]) -> None:
        """Install the packages of locks, each checked against its hash."""
        files = [word for lock in locks for word in ("--requirement", str(lock))]
        self.install(*CHECKED, *arguments, *files)

    def fetch_uv(self, lock: Path) -> None:
        """Install uv with pip; say so if it does not exist or run on this platform.

        Raises
        ------
        SetUpError
            If the index does not answer, the disk is full, or the hash is wrong.
        """
        program = uv_program(self.venv)
        place = program.parents[1]
        shutil.rmtree(place, ignore_errors=True)
        target = ("--no-deps", "--target", str(place), "--requirement", str(lock))
        lines = self._run_pip(*CHECKED, *target)
        if lines and known(lines, PERMANENT | UNREACHABLE):
            raise self._error(lines)
        if lines is None:
            lines = self._run([str(program), "--version"], environment_of(self.venv))
        if lines is not None:
            shutil.rmtree(place, ignore_errors=True)
            reason = errors_of(lines)[-1]
            say(f"installing with pip, which takes longer: no uv here ({reason})")

    def clean(self) -> None:
        """Remove downloads and temporary files, which an interrupted run goes on with.

        uv's and pip's caches are elsewhere if the user has set their locations.
        """
        shutil.rmtree(self.venv / "cache", ignore_errors=True)

    @property
    def _log(self) -> Path:
        return self.venv / "pip.log"

    def _run_pip(self, *arguments: str) -> list[str] | None:
        python = str(self.venv / "bin" / "python")
        command = [python, "-I", "-m", "pip", "install", "--progress-bar", "off"]
        return self._run([*command, *arguments], environment_of(self.venv))

    def _run_uv(self, *arguments: str) -> list[str] | None:
        python = self.venv / "bin" / "python"
        environment = environment_of(self.venv)
        try:
            environment = uv_environment(pip_settings(python), environment)
        except (ValueError, SyntaxError) as error:  # a setting that makes no sense
            return [f"error: pip's configuration: {error}"]
        environment.setdefault("UV_CACHE_DIR", str(self.venv / "cache" / "uv"))
        command = [str(uv_program(self.venv)), "pip", "install", "--color", "never"]
        command += ["--no-progress", "--python", str(python)]
        return self._run([*command, *arguments], environment)

    def _run(self, command: list[str], environment: dict[str, str]) -> list[str] | None:
        """Run a program and append its output to the log; return it on failure."""
        with self._log.open("ab") as log:
            before = log.tell()
            try:
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    env=environment,
                    cwd=self.venv.parent,
                )
            except OSError as error:  # not a program of this machine
                return [f"error: {error.strerror or error}"]
            try:
                code = watch(process, "starting", self._log, before)
            finally:
                process.kill()  # a signal may be for the set-up alone
                process.wait()
        return [f"exit code {code}", *lines_of(self._log, before)] if code else None

    def _error(self, lines: list[str]) -> SetUpError:
        reason = known(lines, PERMANENT | UNREACHABLE) or "the installer failed"
        head = f"{reason}; its whole output: {self._log}"
        return SetUpError("\n  ".join([head, *errors_of(lines)]))


def known(lines: list[str], reasons: dict[str, str]) -> str | None:
    """Return the reason whose pattern occurs in an installer's output."""
    output = "\n".join(lines)
    return next((reasons[text] for text in reasons if re.search(text, output)), None)


def errors_of(lines: list[str]) -> list[str]:
    """Return the last lines with errors and their causes; without any, the last one."""
    found = [re.match(_ERROR, line) for line in lines]
    errors = [match[1].strip()[:300] for match in found if match]
    return errors[-4:] or [lines[-1].strip()[:300]]


def uv_program(venv: Path) -> Path:
    """Return where `Installer.fetch_uv` puts uv, apart from the packages."""
    return venv / "uv" / "bin" / "uv"


def environment_of(venv: Path) -> dict[str, str]:
    """Keep index, proxy, and certificates; drop settings that redirect installs.

    Caches and temporary files are in ``venv``, so that nothing is left elsewhere.
    Packages that are built are unpacked at once: their wheels are not compressed.
    """
    cache = venv / "cache"
    (cache / "tmp").mkdir(parents=True, exist_ok=True)
    extra = cache / "build.cfg"
    extra.write_text("[bdist_wheel]\ncompression = stored\n", encoding="utf-8")
    dropped = {"PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_REQUIRE_HASHES"}
    env = {key: value for key, value in os.environ.items() if key not in dropped}
    env.setdefault("PIP_CACHE_DIR", str(cache / "pip"))
    env |= {"PIP_USER": "0", "PIP_NO_INPUT": "1", "PYTHONUNBUFFERED": "1"}
    env |= {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "TMPDIR": str(cache / "tmp")}
    return env | {"DIST_EXTRA_CONFIG": str(extra)}


def forget_half_installed(venv: Path) -> None:
    """Make packages be installed again that an interrupted run left incomplete.

    uv and pip write INSTALLER after a package's files; without it, a package can have
    metadata but no modules.
    """
    for metadata in venv.glob("lib/python*/site-packages/*.dist-info"):
        if not (metadata / "INSTALLER").exists():
            shutil.rmtree(metadata)
