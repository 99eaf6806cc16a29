"""Client settings of Kafka's tools, translated or rejected by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.live import ClientSettings, read_client_properties
from rebalance import SourceError

SASL = """\
# of the platform team
security.protocol = SASL_SSL
sasl.mechanism=SCRAM-SHA-512
sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \\
    username="audit" \\
    password="a\\\\"b=c;d";
ssl.truststore.type=PEM
ssl.truststore.location=/etc/ca.pem
ssl.endpoint.identification.algorithm=
client.id=nightly
request.timeout.ms=1000
"""


def read(folder: Path, text: str) -> ClientSettings:
    path = folder / "client.properties"
    path.write_text(text)
    return read_client_properties(path)


def test_settings_of_a_tool_are_translated(tmp_path: Path) -> None:
    found = read(tmp_path, SASL)
    assert found == ClientSettings(
        protocol="SASL_SSL",
        mechanism="SCRAM-SHA-512",
        username="audit",
        password='a"b=c;d',  # noqa: S106  # of nobody
        ca_file="/etc/ca.pem",
        check_host=False,
    )
    assert found.for_kafka_python() == {
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_plain_username": "audit",
        "sasl_plain_password": 'a"b=c;d',
        "ssl_cafile": "/etc/ca.pem",
        "ssl_check_hostname": False,
    }
    assert found.for_librdkafka() == {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "audit",
        "sasl.password": 'a"b=c;d',
        "ssl.ca.location": "/etc/ca.pem",
        "ssl.endpoint.identification.algorithm": "none",
    }


def test_a_client_certificate_is_certificate_and_key(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "security.protocol=SSL\nssl.keystore.type=PEM\n"
        "ssl.keystore.location=me.pem\nssl.key.password=secret\n",
    )
    settings = found.for_kafka_python()
    assert settings["ssl_certfile"] == settings["ssl_keyfile"] == "me.pem"
    assert settings["ssl_password"] == "secret"  # noqa: S105  # of nobody
    assert settings["ssl_check_hostname"]
    same = found.for_librdkafka()
    assert same["ssl.certificate.location"] == same["ssl.key.location"] == "me.pem"
    assert "ssl.endpoint.identification.algorithm" not in same


def test_nothing_given_is_a_plain_connection(tmp_path: Path) -> None:
    assert read(tmp_path, "") == ClientSettings()


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("security.protocol=TLS", "security.protocol: 'TLS' is not supported"),
        ("sasl.mechanism=GSSAPI", "sasl.mechanism: 'GSSAPI' is not supported"),
        ("sasl.jaas.config=Login required;", "sasl.jaas.config: expected"),
        ("ssl.truststore.location=t.jks", "ssl.truststore.location: a store of type"),
        ("ssl.keystore.type=PKCS12\nssl.keystore.location=k", "of type PKCS12"),
        ("sasl.login.callback.handler.class=X", "sasl.login.callback.handler.class"),
        ("a=\\u00", "no properties file"),
    ],
)
def test_a_setting_that_is_not_supported_is_named(
    tmp_path: Path, text: str, named: str
) -> None:
    with pytest.raises(SourceError, match=r"client\.properties: ") as caught:
        read(tmp_path, text)
    assert named in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="absent: unreadable: No such file"):
        read_client_properties(tmp_path / "absent")
