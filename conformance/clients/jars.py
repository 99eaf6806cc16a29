"""Jars by Maven coordinates, each checked against a recorded digest.

Apache Ivy, which is part of pyspark, fetches them, so that no build tool is needed. It
uses the central repository, or its mirror in the user's Maven settings; mirrors with a
password are not supported.
"""

from __future__ import annotations

import fcntl
import hashlib
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

from conformance.clients.trust import java_arguments
from conformance.java import run_java
from rebalance import OutsideError

FETCH_SECONDS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Jar:
    """One file of a release."""

    group: str
    name: str
    version: str
    sha256: str

    @property
    def file_name(self) -> str:
        """File name in a folder of jars."""
        return f"{self.name}-{self.version}.jar"

    def is_in(self, folder: Path) -> bool:
        """Return whether the folder has this file, by its digest."""
        try:
            with (folder / self.file_name).open("rb") as file:
                digest = hashlib.file_digest(file, "sha256")
        except FileNotFoundError:
            return False
        return digest.hexdigest() == self.sha256


def fetch(
    jars: Iterable[Jar], folder: Path, *, java: Path, seconds: float = FETCH_SECONDS
) -> None:
    """Fetch the jars that are missing in ``folder``.

    ``seconds`` is the time limit of all together.

    Raises
    ------
    OutsideError
        If a jar cannot be fetched, or has another digest than the recorded one, or if
        one is missing and the folder cannot be written to.
    """
    wanted = tuple(jars)
    if not _missing(wanted, folder):
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if missing := _missing(wanted, folder):
                with tempfile.TemporaryDirectory(dir=folder) as temporary:
                    _retrieve(missing, Path(temporary), java, seconds)
                    _put(missing, Path(temporary), folder)
    except PermissionError as error:
        names = ", ".join(jar.file_name for jar in _missing(wanted, folder))
        raise OutsideError(
            f"{folder} cannot be written to, and lacks {names}"
        ) from error


def _missing(jars: Iterable[Jar], folder: Path) -> list[Jar]:
    return [jar for jar in jars if not jar.is_in(folder)]


def _put(jars: Sequence[Jar], temporary: Path, folder: Path) -> None:
    for jar in jars:
        if not jar.is_in(temporary):
            raise OutsideError(f"{jar.file_name}: missing, or another digest")
        (temporary / jar.file_name).replace(folder / jar.file_name)


def _retrieve(jars: Sequence[Jar], temporary: Path, java: Path, seconds: float) -> None:
    """Run Ivy with a temporary cache."""
    settings, module = temporary / "settings.xml", temporary / "ivy.xml"
    settings.write_bytes(_settings(temporary / "cache", mirror_of_central(_home())))
    module.write_bytes(_module(jars))
    command = [str(java), *java_arguments(temporary), "-jar", str(_ivy())]
    command += ["-settings", str(settings), "-ivy", str(module), "-warn"]
    command += ["-retrieve", str(temporary / "[artifact]-[revision].[ext]")]
    names = ", ".join(jar.file_name for jar in jars)
    run_java(command, what=f"fetch {names}", seconds=seconds)


def _ivy() -> Path:
    """Return the path of Ivy's jar, next to Spark's, without importing Spark."""
    spec = find_spec("pyspark")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        for path in sorted((Path(place) / "jars").glob("ivy-*.jar")):
            return path
    raise OutsideError("no jar of Apache Ivy among pyspark's")


def _home() -> Path:
    """Return the user's home; a user without one has a folder that is not there."""
    try:
        return Path.home()
    except RuntimeError:
        return Path("/nonexistent")


def mirror_of_central(home: Path) -> str | None:
    """Return the mirror of the central repository in a user's Maven settings.

    Settings that this user cannot read are those of another one.
    """
    with suppress(OSError, ElementTree.ParseError):
        settings = ElementTree.parse(home / ".m2" / "settings.xml")  # noqa: S314  # theirs
        root = settings.getroot()
        for mirror in root.iterfind("{*}mirrors/{*}mirror"):
            of = mirror.findtext("{*}mirrorOf", "").replace(" ", "").split(",")
            if {"central", "*", "external:*"} & {*of} and "!central" not in of:
                return mirror.findtext("{*}url")
    return None


def _settings(cache: Path, mirror: str | None) -> bytes:
    root = ElementTree.Element("ivysettings")
    ElementTree.SubElement(root, "settings", defaultResolver="central")
    ElementTree.SubElement(root, "caches", defaultCacheDir=str(cache))
    resolvers = ElementTree.SubElement(root, "resolvers")
    place = {"root": mirror} if mirror else {}
    central = {"name": "central", "m2compatible": "true"} | place
    ElementTree.SubElement(resolvers, "ibiblio", central)
    return ElementTree.tostring(root)


def _module(jars: Sequence[Jar]) -> bytes:
    """Write an Ivy module that depends on these files, possibly in several versions."""
    root = ElementTree.Element("ivy-module", version="2.0")
    ElementTree.SubElement(root, "info", organisation="ours", module="jars")
    wanted = ElementTree.SubElement(root, "dependencies")
    for jar in jars:
        ElementTree.SubElement(
            wanted,
            "dependency",
            org=jar.group,
            name=jar.name,
            rev=jar.version,
            transitive="false",
            conf="default->master",
        )
    conflicts = {"org": "*", "module": "*", "manager": "all"}
    ElementTree.SubElement(wanted, "conflict", conflicts)
    return ElementTree.tostring(root)
