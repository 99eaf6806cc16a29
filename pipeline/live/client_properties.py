"""Client settings in the format of Kafka's tools (``--command-config``).

The settings of Java's clients that concern connection and security are translated.
Stores must be PEM files (KIP-651), because Java's own formats (JKS, PKCS #12) cannot be
read outside Java. A setting of security that cannot be translated is an error; other
settings do not matter here and are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import javaproperties

from rebalance import SourceError

PROTOCOLS: Final = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS: Final = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")

_CHECK: Final = "ssl.endpoint.identification.algorithm"
_SECURITY: Final = ("sasl.", "ssl.", "security.")
_READ: Final = frozenset(
    {
        "security.protocol",
        "sasl.mechanism",
        "sasl.jaas.config",
        "ssl.truststore.type",
        "ssl.truststore.location",
        "ssl.keystore.type",
        "ssl.keystore.location",
        "ssl.key.password",
        _CHECK,
    }
)
_UNIMPORTANT: Final = frozenset(
    {
        "ssl.protocol",
        "ssl.enabled.protocols",
        "ssl.truststore.password",  # PEM files have none
        "ssl.keystore.password",
    }
)
_JAAS: Final = re.compile(r'\b(username|password)\s*=\s*"((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSettings:
    """Security of a connection; files are in PEM format.

    ``check_host`` is whether the certificate must be that of the host.
    """

    protocol: str = "PLAINTEXT"
    mechanism: str | None = None
    username: str | None = None
    password: str | None = None
    ca_file: str | None = None
    certificate_file: str | None = None
    key_password: str | None = None
    check_host: bool = True

    def for_kafka_python(self) -> dict[str, Any]:
        """Return the parameters of kafka-python's clients."""
        given = {
            "security_protocol": self.protocol,
            "sasl_mechanism": self.mechanism,
            "sasl_plain_username": self.username,
            "sasl_plain_password": self.password,
            "ssl_cafile": self.ca_file,
            "ssl_certfile": self.certificate_file,
            "ssl_keyfile": self.certificate_file,
            "ssl_password": self.key_password,
        }
        known = {name: value for name, value in given.items() if value is not None}
        return known | {"ssl_check_hostname": self.check_host}

    def for_librdkafka(self) -> dict[str, Any]:
        """Return the settings of librdkafka's clients (confluent-kafka)."""
        given = {
            "security.protocol": self.protocol,
            "sasl.mechanism": self.mechanism,
            "sasl.username": self.username,
            "sasl.password": self.password,
            "ssl.ca.location": self.ca_file,
            "ssl.certificate.location": self.certificate_file,
            "ssl.key.location": self.certificate_file,
            "ssl.key.password": self.key_password,
            "ssl.endpoint.identification.algorithm": None
            if self.check_host
            else "none",
        }
        return {name: value for name, value in given.items() if value is not None}


def read_client_properties(path: Path) -> ClientSettings:
    """Read a file such as ``client.properties``.

    Raises
    ------
    SourceError
        If it cannot be read, or has a setting of security that is not supported.
    """
    try:
        with path.open("rb") as file:
            given = javaproperties.load(file)
    except OSError as error:
        reason = f"unreadable: {error.strerror}"
        raise SourceError(reason, source=str(path), cause=error) from None
    except (ValueError, javaproperties.InvalidUEscapeError) as error:
        raise SourceError(f"no properties file: {error}", source=str(path)) from None
    try:
        return settings_of(given)
    except SourceError as error:
        reason = f"{error.source}: {error.reason}"
        raise SourceError(reason, source=str(path)) from None


def settings_of(given: Mapping[str, str]) -> ClientSettings:
    """Translate the settings of a Java client.

    Raises
    ------
    SourceError
        If a setting of security is not supported; it is named as ``source``.
    """
    for name in sorted(given):
        if name.startswith(_SECURITY) and name not in _READ | _UNIMPORTANT:
            raise SourceError("this setting is not supported", source=name)
    username, password = _login(given.get("sasl.jaas.config"))
    return ClientSettings(
        protocol=_one_of(PROTOCOLS, given, "security.protocol") or PROTOCOLS[0],
        mechanism=_one_of(MECHANISMS, given, "sasl.mechanism"),
        username=username,
        password=password,
        ca_file=_pem_file(given, "ssl.truststore"),
        certificate_file=_pem_file(given, "ssl.keystore"),
        key_password=given.get("ssl.key.password"),
        check_host=given.get(_CHECK, "https") != "",
    )


def _one_of(known: tuple[str, ...], given: Mapping[str, str], name: str) -> str | None:
    value = given.get(name)
    if value is None:
        return None
    if value.upper() not in known:
        reason = f"{value!r} is not supported; supported are {', '.join(known)}"
        raise SourceError(reason, source=name)
    return value.upper()


def _login(jaas: str | None) -> tuple[str | None, str | None]:
    """Return user and password of a JAAS entry (PLAIN and SCRAM)."""
    if jaas is None:
        return None, None
    found = {n: re.sub(r"\\(.)", r"\1", value) for n, value in _JAAS.findall(jaas)}
    if found.keys() != {"username", "password"}:
        reason = 'expected ... required username="..." password="...";'
        raise SourceError(reason, source="sasl.jaas.config")
    return found["username"], found["password"]


def _pem_file(given: Mapping[str, str], store: str) -> str | None:
    location = given.get(f"{store}.location")
    if location is None:
        return None
    kind = given.get(f"{store}.type", "JKS").upper()
    if kind != "PEM":
        reason = (
            f"a store of type {kind}; convert it to PEM"
            f" (keytool -exportcert -rfc) and set {store}.type=PEM"
        )
        raise SourceError(reason, source=f"{store}.location")
    return location
