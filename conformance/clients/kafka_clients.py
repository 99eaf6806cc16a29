"""Kafka's own assignors in Java: two lines of kafka-clients, and the coordinator's.

Eclipse's compiler, which is a jar like the others, compiles the adapter in
``kafka-clients/``, because the Java runtime in the wheel has no compiler. Jars and
classes are stored in this Python environment.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

import orjson

from conformance.clients.jars import Jar, fetch
from conformance.clients.process import Program
from conformance.java import java_home, run_java
from rebalance import OutsideError

SOURCES: Final = Path(__file__).parent / "kafka-clients"
COMPILE_SECONDS: Final = 120
RELEASE: Final = "17"  # of Java: the least version for Spark

CLIENT_ASSIGNORS: Final = ("range", "roundrobin", "sticky", "cooperative-sticky")
SERVER_ASSIGNORS: Final = ("server-range", "server-uniform")
SHARE_ASSIGNORS: Final = ("share-simple",)
"""Assignors of share groups, whose answers `studies.share_groups` judges."""
TIMING: Final = ("Timing.java", "ClientTiming.java", "ServerTiming.java")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseLine:
    """A release of Kafka: its jars, and the assignors that it provides.

    Attributes
    ----------
    version : str
    jars : tuple of Jar
    assignors, share_assignors : tuple of str
        Of consumer groups, and of share groups.
    """

    version: str
    jars: tuple[Jar, ...]
    assignors: tuple[str, ...]
    share_assignors: tuple[str, ...] = ()

    @property
    def sources(self) -> tuple[str, ...]:
        """Source files of the adapter and the benchmarks for these jars."""
        has_server = any(name in SERVER_ASSIGNORS for name in self.assignors)
        server = ("ServerAdapter.java", *TIMING) if has_server else ()
        share = ("ShareAdapter.java",) if self.share_assignors else ()
        return ("Adapter.java", "Rebalance.java", "ClientAdapter.java", *server, *share)


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaClients:
    """A Kafka line, fetched and compiled."""

    line: ReleaseLine
    java: Path
    class_path: tuple[Path, ...]

    @property
    def line_jars(self) -> tuple[Path, ...]:
        """The jars of the line, without the compiled adapter."""
        return self.class_path[1:]

    def program(
        self, assignor: str, *, megabytes: int = 512, keeps: bool = False
    ) -> Program:
        """Return the adapter around one assignor.

        Parameters
        ----------
        assignor : str
        megabytes : int
            Size of its heap, MiB.
        keeps : bool
            Whether one assignor object computes all rebalances and can remember them;
            if not, each rebalance has a new object. Applies only to a client's
            assignors: the coordinator always keeps its own.

        Raises
        ------
        ValueError
            If the line has no such assignor.
        """
        if assignor in self.line.share_assignors:
            main = "ShareAdapter"
        elif assignor not in self.line.assignors:
            raise ValueError(f"no {assignor} in Kafka {self.line.version}")
        else:
            main = "ServerAdapter" if assignor in SERVER_ASSIGNORS else "ClientAdapter"
        arguments = (main, assignor, "keep") if keeps else (main, assignor)
        limits = (f"-Xmx{megabytes}m", "-XX:+ExitOnOutOfMemoryError")
        apart = "-XX:+DisplayVMOutputToStderr"  # messages of the JVM are not answers
        frugal = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")
        path = ":".join(map(str, self.class_path))
        return Program(
            name=f"kafka-{self.line.version}/{assignor}",
            argv=(str(self.java), *limits, apart, *frugal, "-cp", path, *arguments),
        )


def _pins() -> dict[str, tuple[Jar, ...]]:
    """Read the pinned jars of each line."""
    pinned = orjson.loads((SOURCES / "jars.json").read_bytes())
    return {use: tuple(Jar(**jar) for jar in jars) for use, jars in pinned.items()}


_PINS: Final = MappingProxyType(_pins())
COMPILER: Final = _PINS["compiler"][0]
"""The compiler, which runs on a runtime without one."""

NEWEST: Final = ReleaseLine(
    version="4.4.0",
    jars=_PINS["4.4.0"],
    assignors=(*CLIENT_ASSIGNORS, *SERVER_ASSIGNORS),
    share_assignors=SHARE_ASSIGNORS,
)
OLDER: Final = ReleaseLine(
    version="3.9.2", jars=_PINS["3.9.2"], assignors=CLIENT_ASSIGNORS
)
LINES: Final[Mapping[str, ReleaseLine]] = MappingProxyType(
    {line.version: line for line in (NEWEST, OLDER)}
)


def install(line: ReleaseLine) -> KafkaClients:
    """Fetch and compile missing files.

    Raises
    ------
    OutsideError
        If there is no Java, a jar cannot be fetched, or the adapter does not compile,
        or if the folder of jars lacks something and cannot be written to.
    """
    java = java_home().home / "bin" / "java"
    folder = jars_folder()
    fetch((COMPILER, *line.jars), folder, java=java)
    jars = tuple(folder / jar.file_name for jar in line.jars)
    try:
        classes = _compiled(line, jars, folder, java)
    except PermissionError as error:
        reason = f"{folder} cannot be written to, and lacks the compiled adapter"
        raise OutsideError(reason) from error
    return KafkaClients(line=line, java=java, class_path=(classes, *jars))


def installed(line: ReleaseLine) -> KafkaClients | None:
    """Return a line whose jars and classes exist; None if there is something to do.

    Raises
    ------
    OutsideError
        If there is no Java.
    """
    folder = jars_folder()
    jars = tuple(folder / jar.file_name for jar in line.jars)
    classes = _classes(line, folder)
    if not all(path.exists() for path in (classes, *jars)):
        return None
    java = java_home().home / "bin" / "java"
    return KafkaClients(line=line, java=java, class_path=(classes, *jars))


def jars_folder() -> Path:
    """Return the folder of fetched jars, in this Python environment."""
    return Path(sys.prefix) / "jars"


def compiling(java: Path, sources: Sequence[str], made: str, path: str) -> list[str]:
    """Return the command of `COMPILER`, which is to be among the fetched jars.

    Parameters
    ----------
    sources : sequence of str
        Files.
    made : str
        Folder for the classes.
    path : str
        Class path.
    """
    command = [str(java), "-jar", str(jars_folder() / COMPILER.file_name)]
    command += ["-source", RELEASE, "-target", RELEASE, "-proc:none", "-nowarn"]
    return [*command, "-encoding", "UTF-8", "-d", made, "-cp", path, *sources]


def _compiled(
    line: ReleaseLine, jars: tuple[Path, ...], folder: Path, java: Path
) -> Path:
    """Return the folder of classes, compiled in a temporary folder and then renamed."""
    classes = _classes(line, folder)
    if not classes.exists():
        sources = [str(SOURCES / name) for name in line.sources]
        with tempfile.TemporaryDirectory(dir=folder) as temporary:
            made = Path(temporary) / "classes"
            command = compiling(java, sources, str(made), ":".join(map(str, jars)))
            run_java(command, what="compile the adapter", seconds=COMPILE_SECONDS)
            _settle(made, classes)
    return classes


def _classes(line: ReleaseLine, folder: Path) -> Path:
    """Return the folder of classes for these sources and jars, existing or not."""
    sources = [SOURCES / name for name in line.sources]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources))
    for jar in (COMPILER, *line.jars):
        digest.update(jar.sha256.encode())
    return folder / f"adapter-{line.version}-{digest.hexdigest()[:12]}"


def _settle(made: Path, classes: Path) -> None:
    """Rename a folder; if another process was faster, use its classes."""
    try:
        made.rename(classes)
    except OSError:
        if not classes.exists():
            raise
