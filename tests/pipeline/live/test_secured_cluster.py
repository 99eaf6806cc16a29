"""A real broker that demands TLS, a client's certificate, and a password."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import confluent_kafka
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import NameOID
from kafka.admin import KafkaAdminClient, NewTopic

from conformance.broker import Broker, Listener, running_broker
from pipeline.live import OffsetsLog, read_client_properties
from pipeline.records import decode_record

MODULES = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
}
USER, PASSWORD = "audit", "se cret"
TIMEOUT = 60.0

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key and a certificate that signs itself: of the broker, client, and issuer."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    now = datetime.now(UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]),
            critical=False,
        )
        .sign(key, SHA256())
    )
    path = tmp_path_factory.mktemp("pem") / "both.pem"
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    path.write_bytes(private + built.public_bytes(Encoding.PEM))
    return path


@pytest.fixture(scope="module")
def broker(certificate: Path) -> Iterator[Broker]:
    jaas = f'{MODULES["PLAIN"]} required username="{USER}" password="{PASSWORD}"'
    needed = {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(certificate),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(certificate),
        "ssl.client.auth": "required",
        "sasl.enabled.mechanisms": ",".join(MODULES),
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        "listener.name.sasl_ssl.plain.sasl.jaas.config": (
            f'{jaas} user_{USER}="{PASSWORD}";'
        ),
        "listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config": (
            f"{MODULES['SCRAM-SHA-256']} required;"
        ),
    }
    scram = (f"SCRAM-SHA-256=[name={USER},password={PASSWORD}]",)
    listener = Listener(protocol="SASL_SSL", settings=needed, scram=scram)
    with running_broker(listener=listener) as broker:
        yield broker


def properties(
    folder: Path, certificate: Path, mechanism: str, password: str = PASSWORD
) -> Path:
    """Write settings as for Kafka's own tools."""
    path = folder / f"{mechanism}.properties"
    path.write_text(
        "security.protocol=SASL_SSL\n"
        f"sasl.mechanism={mechanism}\n"
        f"sasl.jaas.config={MODULES[mechanism]} required "
        f'username="{USER}" password="{password}";\n'
        "ssl.truststore.type=PEM\n"
        f"ssl.truststore.location={certificate}\n"
        "ssl.keystore.type=PEM\n"
        f"ssl.keystore.location={certificate}\n"
    )
    return path


@pytest.mark.parametrize("mechanism", MODULES)
def test_groups_are_read_over_tls_with_a_password(
    broker: Broker, certificate: Path, tmp_path: Path, mechanism: str
) -> None:
    config = properties(tmp_path, certificate, mechanism)
    settings = read_client_properties(config)
    group, topic = f"g-{mechanism}", f"t-{mechanism}"
    admin = KafkaAdminClient(
        bootstrap_servers=broker.address, **settings.for_kafka_python()
    )
    admin.create_topics([NewTopic(name=topic, num_partitions=2, replication_factor=1)])
    admin.close()
    consumer = confluent_kafka.Consumer(
        {"bootstrap.servers": broker.address, "group.id": group}
        | settings.for_librdkafka()
    )
    try:
        consumer.subscribe([topic])
        deadline = time.monotonic() + TIMEOUT
        while not consumer.assignment() and time.monotonic() < deadline:
            consumer.poll(0.2)
        ended = snapshot(broker, config, "--group", group)
        log = OffsetsLog(server=broker.address, settings=settings)
        (whole,) = log.ranges()
        keys = [record.key for record in log.records(whole) if record.key is not None]
    finally:
        consumer.close()
    assert ended.returncode == 0, ended.stderr
    document = json.loads(ended.stdout)
    assert document["group"] == group
    assert [member["subscription"] for member in document["members"].values()] == [
        [topic]
    ]
    assert group in {decode_record(key, None).group_id for key in keys}


def test_a_wrong_password_is_one_line(
    broker: Broker, certificate: Path, tmp_path: Path
) -> None:
    config = properties(tmp_path, certificate, "PLAIN", password="other")  # noqa: S106
    ended = snapshot(broker, config)
    assert ended.returncode == 3
    assert ended.stdout == b""
    (line,) = ended.stderr.decode().splitlines()
    assert line.startswith(f"assignor-oracle: {broker.address}: ")
    assert "Authentication failed: Invalid username or password" in line


def snapshot(
    broker: Broker, config: Path, *more: str
) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "oracle", "snapshot", "--bootstrap-server"]
    command += [broker.address, "--command-config", str(config), *more]
    return subprocess.run(command, capture_output=True, check=False, timeout=120)
