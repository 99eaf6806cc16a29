"""Archive of the classes that Spark loads: its Java then starts with half the work.

Java writes such an archive when it ends (JEP 350; from Java 25 on, JEP 514), and later
ones map it instead of reading, verifying, and linking thousands of classes. It stands
next to the launcher of its runtime, whose version it fits; Java ignores one whose class
path is another. The set-up of a checkout writes it; without it, Spark starts as slowly
as ever.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

import pyspark

from conformance.java import JavaRuntime
from pipeline.launcher import launch_home


class _Flags(NamedTuple):
    """Java's options to write and to read an archive, and the log that warns.

    It warns of classes that it cannot archive, and of an archive that does not fit.
    """

    write: str
    read: str
    log: str

    @property
    def silent(self) -> str:
        return f"-Xlog:{self.log}*=off"


_CLASSES: Final = _Flags("ArchiveClassesAtExit", "SharedArchiveFile", "cds")
"""Java can only add to an archive of its own classes, which a runtime can lack."""
_LINKED: Final = _Flags("AOTCacheOutput", "AOTCache", "aot")
_LINKED_SINCE: Final = 25


def class_archive(runtime: JavaRuntime) -> Path | None:
    """Return the archive for a runtime and this Spark; None if there is none.

    Its name states its size in bytes: Java dies of a file that was cut short.
    """
    for path in sorted(launch_home(runtime).glob(f"{_stem()}-*.jsa")):
        if path.stem.removeprefix(f"{_stem()}-") == str(path.stat().st_size):
            return path
    return None


def reading_options(runtime: JavaRuntime) -> list[str]:
    """Return Java's options to start from the archive, quoted; none if it is absent."""
    path, flags = class_archive(runtime), _flags(runtime)
    return [] if path is None else [_quoted(flags.read, path), flags.silent]


def write_class_archive(runtime: JavaRuntime, run: Callable[[str], object]) -> Path:
    """Replace the archive by the classes that a run of Spark loads.

    ``run`` receives options, and returns when a Java that it started with them, and
    that used Spark, has ended.

    Raises
    ------
    OSError
        If the Java wrote no archive, as one without an archive of its own classes.
    """
    home = launch_home(runtime)
    for old in home.glob("spark-*.jsa"):
        old.unlink()
    with tempfile.TemporaryDirectory(dir=home, prefix=".classes-") as temporary:
        written = Path(temporary) / "classes.jsa"
        flags = _flags(runtime)
        run(f"{_quoted(flags.write, written)} {flags.silent}")
        size = written.stat().st_size
        return written.replace(home / f"{_stem()}-{size}.jsa")


def _flags(runtime: JavaRuntime) -> _Flags:
    return _LINKED if runtime.major >= _LINKED_SINCE else _CLASSES


def _quoted(flag: str, path: Path) -> str:
    """Quote an option as Spark's launcher splits them: a path may have spaces."""
    text = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"-XX:{flag}={text}"'


def _stem() -> str:
    """Return a name that differs between versions and installations of Spark."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return f"spark-{pyspark.__version__}-python-{python}"
