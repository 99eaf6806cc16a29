"""Jars are those whose digests are written down, from where the user says."""

from __future__ import annotations

import hashlib
import re
import ssl
import struct
from pathlib import Path
from urllib.request import getproxies

import pytest

from conformance.clients import LINES
from conformance.clients.jars import Jar, fetch, mirror_of_central
from conformance.clients.kafka_clients import SOURCES, KafkaClients
from conformance.clients.trust import java_arguments, key_store
from rebalance.errors import OutsideError

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
        for one in line.jars:
            assert re.fullmatch("[0-9a-f]{64}", one.sha256)
        kafka = {one.version for one in line.jars if one.group == "org.apache.kafka"}
        assert kafka == {line.version}
        assert all((SOURCES / name).is_file() for name in line.sources)


def test_what_is_there_is_not_fetched(tmp_path: Path) -> None:
    (tmp_path / "a-1.0.jar").write_bytes(b"a jar")
    fetch([jar()], tmp_path, java=Path("/nowhere"))


def test_another_file_of_that_name_is_fetched_anew(tmp_path: Path) -> None:
    (tmp_path / "a-1.0.jar").write_bytes(b"a forgery")
    with pytest.raises(OutsideError, match=r"cannot fetch a-1\.0\.jar: .*nowhere"):
        fetch([jar()], tmp_path, java=Path("/nowhere"))


def test_what_was_fetched_is_checked(tmp_path: Path) -> None:
    java = tmp_path / "java"  # says that it fetched, and did not
    java.write_text("#!/bin/sh\nexit 0\n")
    java.chmod(0o755)
    with pytest.raises(OutsideError, match="not the file we know"):
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
def test_a_mirror_of_the_user_is_asked(
    tmp_path: Path, of: str, root: str | None
) -> None:
    (tmp_path / ".m2").mkdir()
    (tmp_path / ".m2" / "settings.xml").write_text(SETTINGS.format(of=of))
    assert mirror_of_central(tmp_path) == root


@pytest.mark.parametrize("text", [None, "", "<settings/>", "<settings"])
def test_no_settings_no_mirror(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / ".m2").mkdir()
        (tmp_path / ".m2" / "settings.xml").write_text(text)
    assert mirror_of_central(tmp_path) is None


def test_a_key_store_is_laid_out_as_java_reads_it() -> None:
    store = key_store([b"first", b"second"])
    assert struct.unpack_from(">III", store) == (0xFEEDFEED, 2, 2)
    entry = b"\0\0\0\2" + b"\0\x010" + bytes(8) + b"\0\x05X.509" + b"\0\0\0\x05first"
    assert store[12 : 12 + len(entry)] == entry
    salt = "changeit".encode("utf-16-be") + b"Mighty Aphrodite"
    assert (
        store[-20:] == hashlib.sha1(salt + store[:-20], usedforsecurity=False).digest()
    )


def test_java_is_told_of_proxies_and_trust(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [n for n in ("http", "https", "no", "all") if n in getproxies()]:
        monkeypatch.delenv(f"{name}_proxy", raising=False)
        monkeypatch.delenv(f"{name}_proxy".upper(), raising=False)
    monkeypatch.setenv("https_proxy", "http://user@proxy.example:3128")
    monkeypatch.setenv("no_proxy", "localhost, .example")
    arguments = java_arguments(tmp_path)
    assert arguments[:3] == [
        "-Dhttps.proxyHost=proxy.example",
        "-Dhttps.proxyPort=3128",
        "-Dhttp.nonProxyHosts=localhost|*.example",
    ]
    trusted = ssl.create_default_context().get_ca_certs(binary_form=True)
    assert len(arguments[3:]) == (3 if trusted else 0)


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
