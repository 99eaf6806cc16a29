"""Whom this Python trusts and which proxies it goes through, told to a Java.

Behind a company's proxy the certificates are named to Python (``SSL_CERT_FILE``) and
the set-up worked with them; a Java out of a wheel knows nothing of either.
"""

from __future__ import annotations

import hashlib
import ssl
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies

_MAGIC: Final = 0xFEEDFEED
_VERSION: Final = 2
_CERTIFICATE: Final = 2
_PASSWORD: Final = "changeit"  # noqa: S105  # Java's own default; nothing is secret
_WHITENER: Final = b"Mighty Aphrodite"  # belongs to the format


def java_arguments(folder: Path) -> list[str]:
    """Return arguments for a Java; a trust store is written into ``folder``."""
    return [*_proxies(), *_trust(folder)]


def key_store(certificates: Sequence[bytes]) -> bytes:
    """Write certificates (DER) as a Java key store, the format named JKS.

    Follows the layout in the source of OpenJDK's ``JavaKeyStore``: entries, then SHA-1
    over password, a fixed word and the entries.
    """
    head = struct.pack(">III", _MAGIC, _VERSION, len(certificates))
    data = head + b"".join(_entries(certificates))
    salt = _PASSWORD.encode("utf-16-be") + _WHITENER
    return data + hashlib.sha1(salt + data, usedforsecurity=False).digest()


def _entries(certificates: Sequence[bytes]) -> Iterator[bytes]:
    for i, certificate in enumerate(certificates):
        created = 0
        yield struct.pack(">I", _CERTIFICATE)
        yield _text(str(i)) + struct.pack(">Q", created) + _text("X.509")
        yield struct.pack(">I", len(certificate)) + certificate


def _text(word: str) -> bytes:
    return struct.pack(">H", len(word)) + word.encode("ascii")


def _trust(folder: Path) -> Iterator[str]:
    certificates = ssl.create_default_context().get_ca_certs(binary_form=True)
    if certificates:  # else Java's own
        store = folder / "trust.jks"
        store.write_bytes(key_store(certificates))
        yield f"-Djavax.net.ssl.trustStore={store}"
        yield f"-Djavax.net.ssl.trustStorePassword={_PASSWORD}"
        yield "-Djavax.net.ssl.trustStoreType=JKS"


def _proxies() -> Iterator[str]:
    known = getproxies()
    for scheme in ("http", "https"):
        proxy = urlsplit(known.get(scheme, ""))
        if proxy.hostname:
            yield f"-D{scheme}.proxyHost={proxy.hostname}"
            yield f"-D{scheme}.proxyPort={proxy.port or 80}"
    if excepted := known.get("no"):
        hosts = [host.strip() for host in excepted.split(",")]
        named = "|".join(f"*{host}" if host[:1] == "." else host for host in hosts)
        yield f"-Dhttp.nonProxyHosts={named}"
