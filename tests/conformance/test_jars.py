"""Jars have the recorded digests, and come from the user's mirror."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from conformance.clients import LINES, KafkaClients
from conformance.clients.jars import Jar, fetch, mirror_of_central
from conformance.clients.kafka_clients import SOURCES
from rebalance import OutsideError

SETTINGS = """<settings xmlns="urn:settings"><mirrors>
<mirror><id>a</id><url>file:///a</url><mirrorOf>other</mirrorOf></mirror>
<mirror><id>b</id><url>file:///b</url><mirrorOf>{of}</mirrorOf></mirror>
</mirrors></settings>"""


def jar(text: bytes = b"a jar") -> Jar:
    digest = hashlib.sha256(text).hexdigest()
    return Jar(group="org.example", name="a", version="1.0", sha256=digest)


def test_every_jar_is_pinned() -> None:
    for line in LINES.values():
        assert line.jars
        for jar in line.jars:
            assert re.fullmatch("[0-9a-f]{64}", jar.sha256)
        kafka = {jar.version for jar in line.jars if jar.group == "org.apache.kafka"}
        assert kafka == {line.version}
        assert all((SOURCES / name).is_file() for name in line.sources)


def test_what_is_there_is_not_fetched(tmp_path: Path) -> None:
    (tmp_path / "a-1.0.jar").write_bytes(b"a jar")
    fetch([jar()], tmp_path, java=Path("/nowhere"))


def test_what_is_there_needs_no_lock(tmp_path: Path) -> None:
    """The folder can be another user's."""
    (tmp_path / ".lock").mkdir()
    (tmp_path / "a-1.0.jar").write_bytes(b"a jar")
    fetch([jar()], tmp_path, java=Path("/nowhere"))


def test_another_file_of_that_name_is_fetched_anew(tmp_path: Path) -> None:
    (tmp_path / "a-1.0.jar").write_bytes(b"a forgery")
    with pytest.raises(OutsideError, match=r"cannot fetch a-1\.0\.jar: .*nowhere"):
        fetch([jar()], tmp_path, java=Path("/nowhere"))


def test_what_was_fetched_is_checked(tmp_path: Path) -> None:
    java = tmp_path / "java"  # claims success without fetching
    java.write_text("#!/bin/sh\nexit 0\n")
    java.chmod(0o755)
    with pytest.raises(OutsideError, match="another digest"):
        fetch([jar()], tmp_path / "jars", java=java)


@pytest.mark.parametrize(
    ("of", "root"),
    [
        ("central", "file:///b"),
        ("*", "file:///b"),
        ("internal, external:*", "file:///b"),
        ("*,!central", None),
        ("else", None),
    ],
)
def test_a_configured_mirror_is_used(tmp_path: Path, of: str, root: str | None) -> None:
    (tmp_path / ".m2").mkdir()
    (tmp_path / ".m2" / "settings.xml").write_text(SETTINGS.format(of=of))
    assert mirror_of_central(tmp_path) == root


@pytest.mark.parametrize("text", [None, "", "<settings/>", "<settings"])
def test_no_settings_no_mirror(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / ".m2").mkdir()
        (tmp_path / ".m2" / "settings.xml").write_text(text)
    assert mirror_of_central(tmp_path) is None


def test_a_line_runs_its_own_assignors_alone() -> None:
    older = LINES["3.9.2"]
    clients = KafkaClients(line=older, java=Path("java"), class_path=(Path("a"),))
    argv = clients.program("sticky", megabytes=64).argv
    assert argv[-2:] == ("ClientAdapter", "sticky")
    assert "-Xmx64m" in argv
    keeping = clients.program("sticky", keeps=True).argv
    assert keeping[-3:] == ("ClientAdapter", "sticky", "keep")
    with pytest.raises(ValueError, match=r"no server-uniform in Kafka 3\.9\.2"):
        clients.program("server-uniform")
    with pytest.raises(ValueError, match=r"no share-simple in Kafka 3\.9\.2"):
        clients.program("share-simple")
