"""Find or fetch promtool, which checks metrics by Prometheus' own rules.

Tried in this order: PATH; ``build/promtool``; Debian's package, of which only this
program is kept. Nothing is installed, so that it takes no root, but for apt's lists.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tools.debian import run_quietly

ROOT: Final = Path(__file__).resolve().parent.parent
FETCHED: Final = ROOT / "build" / "promtool" / "promtool"
PACKAGE: Final = "prometheus"
_PROGRAMS: Final = ("apt-get", "dpkg-deb")


def find() -> Path | None:
    """Return the program; None if there is none."""
    on_path = shutil.which("promtool")
    if on_path is not None:
        return Path(on_path)
    return FETCHED if os.access(FETCHED, os.X_OK) else None


def fetch() -> str | None:
    """Fetch Debian's package, and keep the program; return the error, else None."""
    if missing := [name for name in _PROGRAMS if shutil.which(name) is None]:
        return f"{missing[0]} is missing"
    if os.geteuid() == 0:
        run_quietly(["apt-get", "update"], os.environ)
    FETCHED.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=FETCHED.parent) as folder:
        failure = run_quietly(["apt-get", "download", PACKAGE], os.environ, folder)
        if failure is not None:
            return failure
        (package,) = Path(folder).glob("*.deb")
        failure = run_quietly(["dpkg-deb", "-x", str(package), folder], os.environ)
        if failure is None:
            (Path(folder) / "usr/bin/promtool").replace(FETCHED)
        return failure


def main() -> int:
    """Print the program that the tests will use; fetch it if there is none."""
    found = find()
    if found is None:
        print(f"promtool: fetching Debian's {PACKAGE} with apt-get", flush=True)
        failure = fetch()
        if failure is not None:
            print(f"promtool: that failed: {failure}", flush=True)
        found = find()
    if found is None:
        print("promtool: none; its test is skipped", file=sys.stderr)
        return 1
    print(f"promtool: {found}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
