"""Find or install a headless Chromium for the tests of the page.

Tried in this order: ``$CHROMIUM``; PATH; playwright's Chromium in .venv; a download by
playwright into .venv; for root on Debian and its derivatives, apt.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from tools.debian import install_packages, run_quietly

ROOT = Path(__file__).resolve().parent.parent
DOWNLOADED = ROOT / ".venv" / "browsers"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find() -> Path | None:
    """Return an installed browser; None if there is none."""
    named = [os.environ.get("CHROMIUM", ""), *NAMES]
    on_path = (shutil.which(name) for name in named if name)
    pattern = "chromium*/chrome-*/*"
    fetched = (str(path) for path in sorted(DOWNLOADED.glob(pattern)) if _runs(path))
    found = next(filter(None, (*on_path, *fetched)), None)
    return Path(found) if found else None


def _runs(path: Path) -> bool:
    """Return whether a file is an executable program, not a library."""
    programs = {"chrome", "headless_shell", "chrome-headless-shell"}
    return path.name in programs and os.access(path, os.X_OK)


def download() -> str | None:
    """Download playwright's Chromium into .venv; return the error, else None."""
    environment = os.environ | {"PLAYWRIGHT_BROWSERS_PATH": str(DOWNLOADED)}
    command = [sys.executable, "-m", "playwright", "install", "--only-shell"]
    return run_quietly([*command, "chromium"], environment)


def from_apt() -> str | None:
    """Install Debian's package as root; return the error, else None."""
    return install_packages("chromium")


def main() -> int:
    """Print the browser that the tests will use; install one if there is none."""
    found = find()
    for words, get in (
        ("fetching Chromium into .venv with playwright", download),
        ("installing Debian's chromium with apt-get", from_apt),
    ):
        if found is not None:
            break
        print(f"browser: {words}", flush=True)
        failure = get()
        if failure is not None:
            print(f"browser: that failed: {failure}", flush=True)
        found = find()
    if found is None:
        print(
            "browser: none; install chromium or google-chrome, or set CHROMIUM",
            file=sys.stderr,
        )
        return 1
    print(f"browser: {found}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
