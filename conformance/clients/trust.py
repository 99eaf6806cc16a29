"""Trust store and proxy settings of this Python, as arguments for Java.

Behind a proxy, Python uses the certificates in ``SSL_CERT_FILE``; the Java runtime in
the wheel uses neither these nor the proxy settings by itself.
"""

from __future__ import annotations

import ssl
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies

from rebalance import MissingExtraError

_PASSWORD: Final = "changeit"  # noqa: S105  # Java's own default; nothing is secret


def java_arguments(folder: Path) -> list[str]:
    """Return arguments for Java; a trust store is written into ``folder``.

    Raises
    ------
    MissingExtraError
        As `key_store`.
    """
    return [*_proxies(), *_trust(folder)]


def key_store(certificates: Sequence[bytes]) -> bytes:
    """Write certificates (DER) as a trust store, PKCS #12.

    Entries that are not certificates are omitted.

    Raises
    ------
    MissingExtraError
        If the library that writes one is not installed.
    ValueError
        If there is no certificate.
    """
    try:
        from cryptography.hazmat.primitives.serialization import BestAvailableEncryption
        from cryptography.hazmat.primitives.serialization.pkcs12 import (
            PKCS12Certificate,
            serialize_java_truststore,
        )
        from cryptography.x509 import load_der_x509_certificate
    except ImportError as missing:
        raise MissingExtraError("fetching jars", "jars") from missing
    entries = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some roots have the serial number 0
        for i, certificate in enumerate(certificates):
            with suppress(ValueError):
                read = load_der_x509_certificate(certificate)
                entries.append(PKCS12Certificate(read, str(i).encode()))
    return serialize_java_truststore(
        entries, BestAvailableEncryption(_PASSWORD.encode())
    )


def _trust(folder: Path) -> Iterator[str]:
    certificates = ssl.create_default_context().get_ca_certs(binary_form=True)
    if certificates:  # else the JVM's default
        store = folder / "trust.p12"
        store.write_bytes(key_store(certificates))
        yield f"-Djavax.net.ssl.trustStore={store}"
        yield f"-Djavax.net.ssl.trustStorePassword={_PASSWORD}"
        yield "-Djavax.net.ssl.trustStoreType=PKCS12"


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
