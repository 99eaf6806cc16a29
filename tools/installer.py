"""Run the environment's pip with a progress display and readable errors."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

TERMINAL_SECONDS = 0.5
LOG_SECONDS = 20.0
MEGABYTE = 1 << 20

_UNREACHABLE = re.compile(
    r"NewConnectionError|ConnectTimeout|ReadTimeout|Read timed out|ProxyError|SSLError"
    r"|name resolution|NameResolutionError|Max retries exceeded|ConnectionResetError"
    r"|connection broken|Could not fetch URL|IncompleteRead|ProtocolError"
)
_FETCHING = re.compile(r"\s*(?:Downloading|Using cached) (?:\S+/)?(\S+)")
_BUILDING = re.compile(r"\s*Building wheels? for (?:collected packages: )?(\S+)")
_LOCKED = re.compile(r"^[A-Za-z0-9][^\s=]*==", re.MULTILINE)


class SetUpError(Exception):
    """Set-up failed; the message states why, and what to do."""


def say(text: str) -> None:
    """Print one line about set-up."""
    print(f"set-up: {text}", flush=True)


@dataclass(slots=True)
class Progress:
    """Pip's current step, shown by a thread until pip ends."""

    total: int
    scratch: Path
    seen: int = 0
    doing: str = "starting"
    fetching: str = ""

    def follow(self, line: str) -> None:
        """Process one line of pip's output."""
        if line.lstrip().startswith(("Collecting ", "Requirement already satisfied")):
            self.seen += 1
            self.doing = "looking up packages"
        elif found := _FETCHING.match(line):
            self.fetching = found[1]
            self.doing = f"fetching {found[1]}"
        elif found := _BUILDING.match(line):
            self.doing = f"building {found[1]}"
        elif line.startswith("Installing collected packages"):
            self.doing = "unpacking"
        elif "Retrying" in line:
            self.doing = "the package index does not answer, trying again"

    def __str__(self) -> str:
        """Format the count, the current step, and the size of a large download."""
        size = ""
        if self.doing.startswith("fetching"):
            files = self.scratch.glob(f"pip-unpack-*/{self.fetching}")
            fetched = max(map(_size, files), default=0) // MEGABYTE
            size = f", {fetched} MB" if fetched else ""
        count = f"{min(self.seen, self.total)} of {self.total}: " if self.total else ""
        return f"  {count}{self.doing}{size}"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # gone again
        return 0


@contextmanager
def _shown(progress: Progress) -> Iterator[None]:
    """Show the progress: in place on a terminal, otherwise as occasional lines."""
    done = Event()
    live = sys.stdout.isatty()

    def show() -> None:
        started = time.monotonic()
        while not done.wait(TERMINAL_SECONDS if live else LOG_SECONDS):
            text = f"{progress} ({time.monotonic() - started:.0f} s)"
            if live:
                width = shutil.get_terminal_size().columns - 1
                print(f"\r\033[K{text[:width]}", end="", flush=True)
            else:
                print(text, flush=True)

    thread = Thread(target=show, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        if live:
            print("\r\033[K", end="", flush=True)


def _environment(venv: Path, scratch: Path) -> dict[str, str]:
    """Keep index, proxy, and certificates; drop settings that redirect installs.

    pip's cache is next to the packages unless the user has set its location, so that
    deleting the checkout deletes it, too.
    """
    dropped = {"PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_REQUIRE_HASHES"}
    env = {key: value for key, value in os.environ.items() if key not in dropped}
    env.setdefault("PIP_CACHE_DIR", str(venv / "pip-cache"))
    env |= {"PIP_USER": "0", "PIP_NO_INPUT": "1", "TMPDIR": str(scratch)}
    return env | {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONUNBUFFERED": "1"}


def install(venv: Path, arguments: list[str], *, lock: Path | None = None) -> None:
    """Run ``pip install`` in the environment.

    Raises
    ------
    SetUpError
        If pip failed, with its reason; the full output is in ``pip.log``.
    """
    scratch = venv / "tmp"
    scratch.mkdir(exist_ok=True)
    _forget_half_installed(venv)
    total = len(_LOCKED.findall(lock.read_text())) if lock else 0
    progress = Progress(total=total, scratch=scratch)
    command = [str(venv / "bin" / "python"), "-I", "-m", "pip", "install"]
    command += ["--progress-bar", "off", *arguments]
    log = venv / "pip.log"
    lines: list[str] = []
    with (
        log.open("a", encoding="utf-8") as record,
        _shown(progress),
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=_environment(venv, scratch),
            cwd=venv.parent,
        ) as pip,
    ):
        for line in pip.stdout or ():
            record.write(line)
            lines.append(line)
            progress.follow(line)
    shutil.rmtree(scratch, ignore_errors=True)
    if pip.returncode:
        raise SetUpError(_reason(lines, log))


def _reason(lines: list[str], log: Path) -> str:
    """Return why pip failed, for an unreachable index and other errors."""
    whole = "".join(lines)
    said = [line.strip() for line in lines if line.startswith("ERROR")] or lines[-3:]
    if broken := next(filter(_UNREACHABLE.search, lines), None):
        said_so = broken.rpartition("connection broken by ")[2].strip()
        return (
            "cannot fetch packages: the package index does not answer.\n"
            f"  pip: {said_so[:300]}\n"
            "Check the network (a proxy? its certificates?), then run the same command"
            " again:\nwhat is done stays done."
        )
    if "No space left on device" in whole:
        return f"no space left on the device ({log.parent} needs about 2 GB)"
    if "DO NOT MATCH THE HASHES" in whole:
        head = "a package is not the one that the lock names; nothing was installed"
    else:
        head = "pip failed"
    return "\n  ".join([f"{head}; all it said: {log}", *said[:6]])


def _forget_half_installed(venv: Path) -> None:
    """Make pip reinstall packages that an interrupted run left incomplete.

    pip writes INSTALLER after a package's files; without it, a package can have
    metadata but no modules.
    """
    for metadata in venv.glob("lib/python*/site-packages/*.dist-info"):
        if not (metadata / "INSTALLER").exists():
            shutil.rmtree(metadata)
