"""Install the wheel into empty environments, and measure size and time.

The environments and uv's cache are in ``build/installation/``; versions are those of
``requirements/dev.lock``. Used by ``tests/test_installation.py``; ``python -m
tools.installation`` prints the table of docs/install.md, with an empty cache.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path

from tools.lock import PYTHON_OF_UV, uv
from tools.uv_settings import pip_settings, uv_environment
from tools.workers import build_wheel

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / "build" / "installation"
LOCK = ROOT / "requirements" / "dev.lock"


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """An environment with the wheel and one extra, or none: size and wall time."""

    extra: str | None
    venv: Path
    megabytes: int  # of 1,000,000 bytes
    seconds: float

    @property
    def python(self) -> Path:
        """The interpreter of the environment."""
        return self.venv / "bin" / "python"

    @property
    def command(self) -> Path:
        """The command line of the installed wheel."""
        return self.venv / "bin" / "assignor-oracle"

    def __str__(self) -> str:
        """Format as a row of the table in docs/install.md."""
        name = "base" if self.extra is None else f"`[{self.extra}]`"
        return f"| {name} | {self.megabytes:,} MB | {self.seconds:.0f} s |"


def extras() -> list[str]:
    """Return the extras that ``pyproject.toml`` declares."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return [*tomllib.loads(text)["project"]["optional-dependencies"]]


def make_wheel() -> Path:
    """Build the wheel of this checkout, with nothing else there; return its file."""
    clean()
    PLACE.mkdir(parents=True)
    return build_wheel(PLACE / "dist")


def install(wheel: Path, extra: str | None) -> Installation:
    """Install the wheel with an extra into an empty environment; remove earlier ones.

    Raises
    ------
    subprocess.CalledProcessError
        If uv fails; its message is in ``stderr``.
    """
    venv = PLACE / (extra or "base")
    for earlier in PLACE.glob("*/pyvenv.cfg"):
        shutil.rmtree(earlier.parent)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    requested = str(wheel) if extra is None else f"{wheel}[{extra}]"
    start = time.monotonic()
    pip_install(venv, requested)
    seconds, size = time.monotonic() - start, size_of(venv) // 1_000_000
    return Installation(extra=extra, venv=venv, megabytes=size, seconds=seconds)


def pip_install(venv: Path, *arguments: str, cwd: Path | None = None) -> None:
    """Run ``pip install``, as uv does it, in an environment.

    Raises
    ------
    subprocess.CalledProcessError
        If uv fails; its message is in ``stderr``.
    """
    command = [str(uv()), "pip", "install", "--quiet", "--constraints", str(LOCK)]
    command += ["--python", str(venv / "bin" / "python"), *arguments]
    environment = os.environ | {"UV_CACHE_DIR": str(PLACE / "uv-cache")}
    subprocess.run(
        command,
        cwd=cwd or PLACE,
        env=uv_environment(pip_settings(PYTHON_OF_UV), environment),
        check=True,
        capture_output=True,
        text=True,
    )


def clean() -> None:
    """Remove environments and cache: uv keeps several GB per build of pyspark."""
    shutil.rmtree(PLACE, ignore_errors=True)


def size_of(folder: Path) -> int:
    """Return the bytes of all files in a folder; each file counts once."""
    paths = [path for path in folder.rglob("*") if not path.is_symlink()]
    files = [path.stat() for path in paths if path.is_file()]
    sizes = {(file.st_dev, file.st_ino): file.st_size for file in files}
    return sum(sizes.values())


def main() -> int:
    """Install everything once from the index, and print the table."""
    argparse.ArgumentParser(description=main.__doc__).parse_args()
    try:
        wheel = make_wheel()
        print("| installation | size | time |\n| --- | --- | --- |")
        for extra in (None, *extras()):
            print(install(wheel, extra), flush=True)
    except subprocess.CalledProcessError as error:
        print(f"installation: failed: {error.stderr or error}", file=sys.stderr)
        return 1
    finally:
        clean()
    return 0


if __name__ == "__main__":
    sys.exit(main())
