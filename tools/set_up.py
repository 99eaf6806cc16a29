"""Make ``.venv``: locked packages, this project, compiled kernels, a Java runtime.

Every step writes a mark with a digest of its inputs; a step whose mark is current is
skipped. An environment that was moved, has no Python any more, or was never finished is
created again. Nothing is written outside the checkout.

Compiling the kernels takes longest, so their imports are installed first, and the other
packages while they compile.
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
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tools.installer import Installer, SetUpError, lines_of, say, watch
from tools.kernel_compilation import digest_of_kernels, remove_kernels

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
COMMAND = VENV / "bin" / "assignor-oracle"
FROM_SOURCE = (
    *("--no-binary", "pyspark", "--no-binary", "yattag"),
    "--no-build-isolation",
)
"""Arguments for packages without a wheel: the locked setuptools builds them."""
MODULES = "import oracle.cli.runs.audit, oracle.cli.runs.solve, pyspark.worker"
"""The audit and ``solve`` import these, in their own process and in Spark's."""
OPTIONAL = {"modules", "spark-classes"}
"""Steps whose failure is printed and does not end the set-up."""


def identity() -> dict[str, str]:
    """Identify an environment by its Python and its location."""
    base = os.path.realpath(sys.base_prefix)
    return {"python": sys.version, "base": base, "place": str(VENV)}


class Marks:
    """The identity of an environment, and the digests of its completed steps.

    Attributes
    ----------
    identity : object
        None if the environment was never finished.
    acted : bool
        Whether a step has run.
    """

    def __init__(self) -> None:
        self.file = VENV / "set-up.json"
        try:
            stored = json.loads(self.file.read_text(encoding="utf-8"))
            self.identity, self.done = stored["identity"], dict(stored["steps"])
        except (OSError, ValueError, KeyError, TypeError):
            self.identity, self.done = None, {}
        self.acted = False

    def write(self) -> None:
        """Write the marks, atomically."""
        temporary = self.file.with_suffix(".new")
        text = json.dumps({"identity": identity(), "steps": self.done}, indent=1)
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(self.file)

    def lacks(self, step: str, words: str, made_from: bytes) -> bool:
        """Return whether a step is to be run, with these inputs; say so."""
        if self.done.get(step) == hashlib.sha256(made_from).hexdigest():
            return False
        say(words)
        self.acted = True
        return True

    def add(self, step: str, made_from: bytes) -> None:
        """Write that a step is completed."""
        self.done[step] = hashlib.sha256(made_from).hexdigest()
        self.write()

    def once(
        self,
        step: str,
        words: str,
        made_from: bytes,
        run: Callable[..., object],
        *arguments: object,
    ) -> None:
        """Run a step unless it is completed; a failure leaves it incomplete."""
        if self.lacks(step, words, made_from):
            try:
                run(*arguments)
                self.add(step, made_from)
            except SetUpError as error:
                if step not in OPTIONAL:
                    raise
                say(str(error))


def unusable() -> str | None:
    """Return why the environment cannot be used; None if it can."""
    if not VENV.exists():
        return "there is none yet"
    known = Marks().identity
    if not isinstance(known, dict):
        return "the one there was never finished"
    if known.get("place") != str(VENV):
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
    """Replace the environment by an empty one; of a link, only the link."""
    version = ".".join(map(str, sys.version_info[:3]))
    say(f"making .venv with Python {version} ({sys.executable}): {why}")
    if VENV.is_symlink() or VENV.is_file():
        VENV.unlink()
    shutil.rmtree(VENV, ignore_errors=True)
    command = [sys.executable, "-I", "-m", "venv", str(VENV)]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode:
        raise SetUpError(f"venv failed:\n{(made.stdout + made.stderr).strip()}")
    Marks().write()


def run_python(*arguments: str) -> None:
    """Run the environment's Python, and print the last line of its output.

    Raises
    ------
    SetUpError
        With that line, if it fails.
    """
    ran = subprocess.run(
        [str(VENV / "bin" / "python"), *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = (ran.stdout + ran.stderr if ran.returncode else ran.stdout).splitlines()
    if ran.returncode:
        raise SetUpError((lines or [f"exit code {ran.returncode}"])[-1])
    for line in lines[-1:]:
        say(line)


@contextmanager
def compiling(marks: Marks) -> Iterator[None]:
    """Compile the kernels while the block runs, so that no command waits for it."""
    words = "compiling kernels next to the other steps, which takes a minute or more"
    made_from = digest_of_kernels(ROOT)
    if not marks.lacks("kernels", words, made_from):
        yield
        return
    remove_kernels(ROOT)
    log = VENV / "kernels.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(VENV / "bin" / "python"), "-m", "tools.kernel_compilation"],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # its processes end with it
        )
    try:
        yield
        code = watch(process, "compiling kernels", log, 0)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if code == 0:
        marks.add("kernels", made_from)
    else:
        reason = [f"exit code {code}", *lines_of(log)][-1]
        say(f"kernels will be compiled when they are first needed ({reason})")


def set_up(share: str) -> bool:
    """Update the environment; return whether anything changed."""
    why = unusable()
    if why:
        make_environment(why)
    marks, installer = Marks(), Installer(VENV)

    once = marks.once

    def install(words: str, *names: str) -> None:
        locks = [ROOT / "requirements" / f"{name}.lock" for name in names]
        words = f"installing {words} (requirements/{locks[-1].name})"
        made_from = b"".join(lock.read_bytes() for lock in locks)
        once(names[-1], words, made_from, installer.install_locked, locks, FROM_SOURCE)

    uv, project = ROOT / "requirements" / "uv.lock", ROOT / "pyproject.toml"
    runtime = (ROOT / "requirements" / "runtime.lock").read_bytes()
    words = "fetching the installer (requirements/uv.lock)"
    once("uv", words, uv.read_bytes(), installer.fetch_uv, uv)
    install("what builds packages and kernels", "build", "kernel-packages")
    with compiling(marks):
        install("what the oracle runs on, some 700 MB to fetch", "runtime")
        # In place, so that an edit needs no second set-up.
        in_place = ("--no-deps", "--no-build-isolation", "--editable", str(ROOT))
        words = "installing assignor-oracle in place"
        once("project", words, project.read_bytes(), installer.install, *in_place)
        once("modules", "compiling modules", runtime, run_python, "-c", MODULES)
        if share == "dev":
            install("what checks and tests", "dev")
    once("java", "finding Java", runtime, run_python, "-m", "tools.java_launcher")
    # An audit during the compilation would compile the same kernels again.
    archive = ("-m", "tools.spark_classes")
    once("spark-classes", "archiving Spark's classes", runtime, run_python, *archive)
    installer.clean()
    return bool(why) or marks.acted


@contextmanager
def locked_checkout() -> Iterator[None]:
    """Wait until another set-up of this checkout (``make -j``) has ended."""
    with (ROOT / "pyproject.toml").open("rb") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another set-up of this checkout is under way, waiting for it")
            fcntl.flock(held, fcntl.LOCK_EX)
        yield


def main() -> int:
    """Set up ``runtime`` for the audit, or ``dev``, which includes the tests."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("share", choices=["runtime", "dev"])
    share = parser.parse_args().share
    for name in ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"):
        os.environ.pop(name, None)  # bytecode is stored in .venv
    for ending in (signal.SIGTERM, signal.SIGHUP):  # as Ctrl-C: no process is left
        signal.signal(ending, signal.default_int_handler)
    try:
        with locked_checkout():
            acted = set_up(share)
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
