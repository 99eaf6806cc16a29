"""Install packages into the environment with uv, or with pip where uv does not work.

uv unpacks in parallel and takes a third of pip's time. pip is always there, reads every
kind of configuration, and has the last word: whatever uv cannot do is done by pip.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tools.progress import Progress, say, shown
from tools.uv_settings import pip_settings, uv_arguments, uv_environment

_UNREACHABLE = re.compile(
    r"NewConnectionError|ConnectTimeout|ReadTimeout|Read timed out|ProxyError|SSLError"
    r"|name resolution|NameResolutionError|Max retries exceeded|ConnectionResetError"
    r"|connection broken|Could not fetch URL|IncompleteRead|ProtocolError"
)
_WRONG_HASH = re.compile(r"DO NOT MATCH THE HASHES|Hash mismatch for")
_LOCKED = re.compile(r"^[A-Za-z0-9][^\s=]*==", re.MULTILINE)

_UNCOMPRESSED = "[bdist_wheel]\ncompression = stored\n"
"""For packages built here: their wheels are unpacked at once and deleted."""


class SetUpError(Exception):
    """Set-up failed; the message states why, and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """Exit code and output of a program that has ended."""

    code: int
    lines: list[str]


@dataclass(slots=True)
class Installer:
    """Installs into ``venv``; ``has_uv`` until uv is missing or has failed."""

    venv: Path
    has_uv: bool = True

    def install(self, arguments: list[str], *, lock: Path | None = None) -> None:
        """Run ``uv pip install``, or else ``pip install``, with the same arguments.

        Raises
        ------
        SetUpError
            If pip failed, with its reason; the full output is in ``pip.log``.
        """
        forget_half_installed(self.venv)
        uv = uv_program(self.venv)
        if self.has_uv and uv.exists():
            ended = self._run_uv(uv, arguments, lock)
            if ended.code == 0:
                return
            if final := _final_reason(ended.lines, self._log):
                raise SetUpError(final)
            self.has_uv = False
            say(f"uv failed, going on with pip ({_uv_reason(ended.lines)})")
            forget_half_installed(self.venv)
        self._run_pip(arguments, lock)

    def fetch_uv(self, lock: Path) -> None:
        """Install uv with pip; say so if it does not exist or run on this platform.

        Raises
        ------
        SetUpError
            If the index does not answer, the disk is full, or the hash is wrong.
        """
        place = uv_program(self.venv).parents[1]
        shutil.rmtree(place, ignore_errors=True)
        arguments = ["--require-hashes", "--only-binary", ":all:", "--no-deps"]
        arguments += ["--target", str(place), "--requirement", str(lock)]
        try:
            self._run_pip(arguments, None)
        except UnknownPipError as error:
            reason: str | None = str(error).splitlines()[-1].strip()
        else:
            reason = _start_failure(uv_program(self.venv))
        if reason:
            shutil.rmtree(place, ignore_errors=True)
            say(f"installing with pip, which takes longer: no uv here ({reason})")

    @property
    def _log(self) -> Path:
        return self.venv / "pip.log"

    def _run_pip(self, arguments: list[str], lock: Path | None) -> None:
        command = [str(self.venv / "bin" / "python"), "-I", "-m", "pip", "install"]
        command += ["--progress-bar", "off", *arguments]
        ended = self._run(command, _environment(self.venv), lock)
        if ended.code:
            raise _pip_error(ended.lines, self._log)

    def _run_uv(self, uv: Path, arguments: list[str], lock: Path | None) -> Ended:
        python = self.venv / "bin" / "python"
        try:
            settings = pip_settings(python)
            environment = uv_environment(settings, _environment(self.venv))
        except (ValueError, SyntaxError) as error:  # a setting that makes no sense
            return Ended(code=1, lines=[f"error: pip's configuration: {error}\n"])
        environment.setdefault("UV_CACHE_DIR", str(self.venv / "uv-cache"))
        command = [str(uv), "pip", "install", "--color", "never", "--no-progress"]
        command += ["--python", str(python), *uv_arguments(settings), *arguments]
        try:
            return self._run(command, environment, lock)
        except OSError as error:  # not a program of this machine
            return Ended(code=1, lines=[f"error: {error.strerror or error}\n"])

    def _run(
        self, command: list[str], environment: dict[str, str], lock: Path | None
    ) -> Ended:
        """Run a program, follow its output, and append it to the log."""
        scratch = self.venv / "tmp"
        scratch.mkdir(exist_ok=True)
        extra = scratch / "build.cfg"
        extra.write_text(_UNCOMPRESSED, encoding="utf-8")
        environment |= {"TMPDIR": str(scratch), "DIST_EXTRA_CONFIG": str(extra)}
        total = len(_LOCKED.findall(lock.read_text(encoding="utf-8"))) if lock else 0
        progress = Progress(total=total, scratch=scratch)
        lines: list[str] = []
        with (
            self._log.open("a", encoding="utf-8") as record,
            shown(progress),
            subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                env=environment,
                cwd=self.venv.parent,
            ) as program,
        ):
            for line in program.stdout or ():
                record.write(line)
                lines.append(line)
                progress.follow(line)
        shutil.rmtree(scratch, ignore_errors=True)
        return Ended(code=program.returncode, lines=lines)


class UnknownPipError(SetUpError):
    """pip failed for a reason other than the network, the disk, or a hash."""


def uv_program(venv: Path) -> Path:
    """Return where `Installer.fetch_uv` puts uv, apart from the packages."""
    return venv / "uv" / "bin" / "uv"


def _start_failure(program: Path) -> str | None:
    """Return why a program does not start; None if it does."""
    command = [str(program), "--version"]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        return error.strerror or str(error)
    said = ended.stderr.strip().splitlines() or [f"exit code {ended.returncode}"]
    return said[-1] if ended.returncode else None


def _environment(venv: Path) -> dict[str, str]:
    """Keep index, proxy, and certificates; drop settings that redirect installs.

    pip's cache is next to the packages unless the user has set its location, so that
    deleting the checkout deletes it, too.
    """
    dropped = {"PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_REQUIRE_HASHES"}
    env = {key: value for key, value in os.environ.items() if key not in dropped}
    env.setdefault("PIP_CACHE_DIR", str(venv / "pip-cache"))
    env |= {"PIP_USER": "0", "PIP_NO_INPUT": "1"}
    return env | {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONUNBUFFERED": "1"}


def _final_reason(lines: list[str], log: Path) -> str | None:
    """Return the reason if another installer would fail for it, too."""
    whole = "".join(lines)
    if "No space left on device" in whole:
        return f"no space left on the device ({log.parent} needs about 4 GB)"
    if _WRONG_HASH.search(whole):
        head = "a package is not the one that the lock names; nothing was installed"
        return "\n  ".join([f"{head}; all it said: {log}", *_said(lines)[:6]])
    return None


def _pip_error(lines: list[str], log: Path) -> SetUpError:
    """Return the error for a failed pip: an unreachable index, or what pip said."""
    if broken := next(filter(_UNREACHABLE.search, lines), None):
        said_so = broken.rpartition("connection broken by ")[2].strip()
        return SetUpError(
            "cannot fetch packages: the package index does not answer.\n"
            f"  pip: {said_so[:300]}\n"
            "Check the network (a proxy? its certificates?), then run the same command"
            " again:\nwhat is done stays done."
        )
    if final := _final_reason(lines, log):
        return SetUpError(final)
    return UnknownPipError(
        "\n  ".join([f"pip failed; all it said: {log}", *_said(lines)[:6]])
    )


def _said(lines: list[str]) -> list[str]:
    said = [line.strip() for line in lines if line.lower().startswith("error")]
    return said or [line.rstrip() for line in lines[-3:]]


def _uv_reason(lines: list[str]) -> str:
    """Return uv's error with its innermost cause, in one line."""
    said = [line.strip() for line in lines if line.startswith(("error:", "  cause:"))]
    said = said or [line.strip() for line in lines[-1:]] or ["no output"]
    first, last = said[0].removeprefix("error: "), said[-1].removeprefix("cause: ")
    return (first if len(said) == 1 else f"{first}: {last}")[:300]


def forget_half_installed(venv: Path) -> None:
    """Make packages be installed again that an interrupted run left incomplete.

    uv and pip write INSTALLER after a package's files; without it, a package can have
    metadata but no modules.
    """
    for metadata in venv.glob("lib/python*/site-packages/*.dist-info"):
        if not (metadata / "INSTALLER").exists():
            shutil.rmtree(metadata)
