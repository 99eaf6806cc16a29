"""Make ``.venv``: locked packages, this project, compiled kernels, a Java runtime.

Every step writes a mark with a digest of its inputs; a step whose mark is current is
skipped. An environment that was moved, has no Python any more, or was never finished is
created again. Nothing is written outside the checkout.

Compiling the kernels takes longest, so what they import is installed first, and the
other packages while they compile.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import NoReturn

from tools.compilation import (
    Compilation,
    compile_modules,
    digest_of_kernels,
    start_compilation,
)
from tools.installer import Installer, SetUpError
from tools.progress import say

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
MARKS = VENV / "set-up.json"
COMMAND = VENV / "bin" / "assignor-oracle"
SHARES = ["runtime", "dev"]
SOURCE_ONLY = ["pyspark", "yattag"]
"""Packages without a wheel, which are built with the locked setuptools."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of the set-up, repeated only if ``made_from`` changes.

    ``run`` returns None, or what goes on while other steps run; with ``waits``, the
    step begins when all of that has ended.
    """

    name: str
    words: str
    made_from: bytes
    run: Callable[[], Compilation | None]
    waits: bool = False


def lock_of(name: str) -> Path:
    """Return the file of locked packages."""
    return ROOT / "requirements" / f"{name}.lock"


def uv(installer: Installer) -> Step:
    """Install uv, which installs the rest."""
    lock = lock_of("uv")
    return Step(
        name="uv",
        words=f"fetching the installer (requirements/{lock.name})",
        made_from=lock.read_bytes(),
        run=lambda: installer.fetch_uv(lock),
    )


def locked(installer: Installer, name: str, words: str) -> Step:
    """Install the packages of a lock, each checked against its hash."""
    lock = lock_of(name)
    arguments = ["--require-hashes", "--only-binary", ":all:"]
    for package in SOURCE_ONLY:
        arguments += ["--no-binary", package]
    arguments += ["--no-build-isolation", "--requirement", str(lock)]
    return Step(
        name=name,
        words=f"installing {words} (requirements/{lock.name})",
        made_from=lock.read_bytes(),
        run=lambda: installer.install(arguments, lock=lock),
    )


def ourselves(installer: Installer) -> Step:
    """Install this checkout in place, so that an edit needs no second set-up."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    shape = [project["project"], project["build-system"], project["tool"]["hatch"]]
    arguments = ["--no-deps", "--no-build-isolation", "--no-cache-dir"]
    arguments += ["--editable", str(ROOT)]
    return Step(
        name="project",
        words="installing assignor-oracle in place",
        made_from=json.dumps(shape, sort_keys=True).encode(),
        run=lambda: installer.install(arguments),
    )


def kernels() -> Step:
    """Return the step that compiles kernels, so that no command waits for it."""
    return Step(
        name="kernels",
        words="compiling kernels next to the other steps, which takes a minute or more",
        made_from=digest_of_kernels(ROOT),
        run=lambda: start_compilation(ROOT, VENV),
    )


def modules() -> Step:
    """Return the step that compiles Python modules, while the kernels compile."""
    return Step(
        name="modules",
        words="compiling modules",
        made_from=lock_of("runtime").read_bytes(),
        run=lambda: compile_modules(ROOT, VENV),
    )


def spark_classes() -> Step:
    """Return the step that archives Spark's classes: audits start sooner with them."""
    command = [str(VENV / "bin" / "python"), "-m", "tools.spark_classes"]
    return Step(
        name="spark-classes",
        words="archiving Spark's classes",
        made_from=lock_of("runtime").read_bytes(),
        run=lambda: print_output(command),
        waits=True,
    )


def print_output(command: list[str]) -> None:
    """Run a step that may fail, and print the last line of what it wrote."""
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    lines = (ran.stdout + ran.stderr).splitlines()
    say(lines[-1] if lines else f"exit code {ran.returncode}")


def steps(share: str) -> list[Step]:
    """Return the steps of ``share``, in order."""
    installer = Installer(VENV)
    wanted = [
        uv(installer),
        locked(installer, "build", "what builds packages"),
        locked(installer, "kernel-packages", "what the kernels import"),
        kernels(),
        locked(installer, "runtime", "what the oracle runs on, some 700 MB to fetch"),
        ourselves(installer),
        modules(),
    ]
    if share == "dev":
        wanted.append(locked(installer, "dev", "what checks and tests"))
    return [*wanted, spark_classes()]


def identity() -> dict[str, str]:
    """Identify an environment by its Python and its location."""
    return {
        "python": sys.version,
        "base": os.path.realpath(sys.base_prefix),
        "place": str(VENV),
    }


def stale() -> str | None:
    """Return why the environment cannot be used; None if it can."""
    if not VENV.exists():
        return "there is none yet"
    try:
        known = json.loads(MARKS.read_text(encoding="utf-8"))["identity"]
        place = known["place"]
    except (OSError, ValueError, KeyError, TypeError):
        return "the one there was never finished"
    if place != str(VENV):
        return "the checkout was moved"
    if known != identity():
        return "it was made with another Python"
    command = [str(VENV / "bin" / "python"), "-I", "-c", "import pip"]
    try:
        alive = subprocess.run(command, capture_output=True, check=False)
    except OSError:
        return "its Python is gone"
    return None if alive.returncode == 0 else "its Python does not start"


def make_environment(why: str) -> None:
    """Replace the environment by an empty one."""
    version = ".".join(map(str, sys.version_info[:3]))
    say(f"making .venv with Python {version} ({sys.executable}): {why}")
    if VENV.is_symlink() or VENV.is_file():
        VENV.unlink()
    shutil.rmtree(VENV, ignore_errors=True)
    command = [sys.executable, "-I", "-m", "venv", str(VENV)]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode:
        raise SetUpError(f"venv failed:\n{(made.stdout + made.stderr).strip()}")
    write_marks({})


def read_marks() -> dict[str, str]:
    """Return the digests of completed steps."""
    done = json.loads(MARKS.read_text(encoding="utf-8"))["steps"]
    return {str(name): str(digest) for name, digest in done.items()}


def write_marks(done: dict[str, str]) -> None:
    """Write the digests of completed steps, atomically."""
    aside = MARKS.with_suffix(".new")
    text = json.dumps({"identity": identity(), "steps": done}, indent=1)
    aside.write_text(text, encoding="utf-8")
    aside.replace(MARKS)


@contextmanager
def alone() -> Iterator[None]:
    """Wait until another set-up of this checkout (``make -j``) has ended."""
    with (ROOT / "pyproject.toml").open("rb") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another set-up of this checkout is under way, waiting for it")
            fcntl.flock(held, fcntl.LOCK_EX)
        yield


@dataclass(frozen=True, slots=True)
class Marked:
    """The completed steps, and what goes on while other steps run."""

    done: dict[str, str]
    going_on: list[tuple[str, str, Compilation]] = field(default_factory=list)

    def mark(self, name: str, digest: str) -> None:
        """Write that a step is completed."""
        self.done[name] = digest
        write_marks(self.done)

    def perform(self, step: Step) -> bool:
        """Run a step unless it is completed; return whether it ran."""
        digest = hashlib.sha256(step.made_from).hexdigest()
        if self.done.get(step.name) == digest:
            return False
        if step.waits:
            self.wait()
        say(step.words)
        started = step.run()
        if started is None:
            self.mark(step.name, digest)
        else:
            self.going_on.append((step.name, digest, started))
        return True

    def wait(self) -> None:
        """Wait until nothing goes on."""
        while self.going_on:
            name, digest, started = self.going_on[0]
            started.wait()
            self.mark(name, digest)
            del self.going_on[0]

    def stop(self) -> None:
        """Stop what goes on."""
        for *_, started in self.going_on:
            started.stop()


def set_up(share: str) -> bool:
    """Update the environment; return whether anything changed."""
    why = stale()
    if why:
        make_environment(why)
    marked = Marked(read_marks())
    try:
        acted = [marked.perform(step) for step in steps(share)]
        marked.wait()
    except BaseException:
        marked.stop()
        raise
    for cache in ("pip-cache", "uv-cache"):
        shutil.rmtree(VENV / cache, ignore_errors=True)
    return bool(why) or any(acted)


def java() -> None:
    """Print the Java runtime that the audit will use, and write its launcher."""
    command = [str(VENV / "bin" / "python"), "-m", "tools.java_launcher"]
    found = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )
    if found.returncode:
        raise SetUpError(found.stderr.strip())
    say(found.stdout.strip())


def interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
    """Treat every signal to end as Ctrl-C, so that no process is left behind."""
    raise KeyboardInterrupt


def main() -> int:
    """Set up ``runtime`` for the audit, or ``dev``, which includes the tests."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("share", choices=SHARES)
    share = parser.parse_args().share
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, interrupt)
    try:
        with alone():
            acted = set_up(share)
            if acted:
                java()
    except (SetUpError, OSError) as error:
        print(f"set-up: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nset-up: stopped; run it again to go on", file=sys.stderr)
        return 130
    if acted:
        say(f"done; the command is {COMMAND.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
