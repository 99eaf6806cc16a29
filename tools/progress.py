"""Show what set-up does: in place on a terminal, otherwise as occasional lines."""

from __future__ import annotations

import re
import shutil
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

_FETCHING = re.compile(r"\s*(?:Downloading|Using cached) (?:\S+/)?(\S+)")
_BUILDING = re.compile(
    r"\s*Building (?:wheels? for )?(?:collected packages: )?([^\s=]+)"
)
_FOUND = re.compile(r"Resolved (\d+) packages?")


def say(text: str) -> None:
    """Print one line about set-up."""
    print(f"set-up: {text}", flush=True)


@dataclass(slots=True)
class Progress:
    """An installer's current step, shown by a thread until the installer ends.

    The lines of uv and of pip are both understood.
    """

    total: int
    scratch: Path
    seen: int = 0
    doing: str = "starting"
    fetching: str = ""

    def follow(self, line: str) -> None:
        """Process one line of the installer's output."""
        if line.lstrip().startswith(("Collecting ", "Requirement already satisfied")):
            self.seen += 1
            self.doing = "looking up packages"
        elif found := _FOUND.match(line):
            self.seen = int(found[1])
            self.doing = "fetching"
        elif found := _FETCHING.match(line):
            self.fetching = found[1]
            self.doing = f"fetching {found[1]}"
        elif found := _BUILDING.match(line):
            self.doing = f"building {found[1]}"
        elif line.startswith(("Installing collected packages", "Prepared ")):
            self.doing = "unpacking"
        elif "Retrying" in line:
            self.doing = "the package index does not answer, trying again"

    def __str__(self) -> str:
        """Format the count, the current step, and the size of a large download."""
        size = ""
        if self.doing.startswith("fetching") and self.fetching:
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
def shown(progress: object) -> Iterator[None]:
    """Show ``str(progress)`` and the time that has passed until the block ends."""
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
