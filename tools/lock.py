"""Write requirements/*.lock: hashes of every file, for all systems and Pythons.

There is one resolution (``dev.lock``); the locks of the runtime and of the build are
parts of it, so that all locks have the same versions. Locked versions change only if
pyproject.toml requires another version or ``--upgrade`` is given.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

UV = "uv==0.13.8"
OLDEST_PYTHON = "3.11"

ROOT = Path(__file__).resolve().parent.parent
HOME_OF_UV = ROOT / "build" / "uv"
DEV = "requirements/dev.lock"

LOCKS = {
    DEV: ["pyproject.toml", "--group", "dev", "requirements/build.in"],
    "requirements/runtime.lock": ["pyproject.toml", "--constraints", DEV],
    "requirements/build.lock": ["requirements/build.in", "--constraints", DEV],
}


def uv() -> Path:
    """Return the resolver, and fetch it into ``build/`` if it is missing."""
    program = HOME_OF_UV / "bin" / "uv"
    pin = HOME_OF_UV / "pin"
    if not pin.exists() or pin.read_text() != UV:
        print(f"lock: fetching {UV} into build/uv", flush=True)
        subprocess.run(
            [sys.executable, "-m", "venv", "--clear", str(HOME_OF_UV)], check=True
        )
        pip = [
            str(HOME_OF_UV / "bin" / "python"),
            "-m",
            "pip",
            "install",
            "--quiet",
            UV,
        ]
        subprocess.run(pip, check=True)
        pin.write_text(UV)
    return program


def main() -> int:
    """Write the locks, the largest first."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--upgrade", action="store_true", help="take newest versions")
    upgrade = parser.parse_args().upgrade
    try:
        for target, sources in LOCKS.items():
            print(f"lock: {target}", flush=True)
            command = [str(uv()), "pip", "compile", "--quiet", "--universal"]
            command += ["--python-version", OLDEST_PYTHON, "--generate-hashes"]
            command += ["--no-emit-index-url", "--no-header", "--no-annotate"]
            command += [*sources, "--output-file", target]
            if upgrade and target == DEV:
                command.append("--upgrade")
            subprocess.run(command, check=True, cwd=ROOT)
    except subprocess.CalledProcessError as error:
        print(f"lock: failed: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
