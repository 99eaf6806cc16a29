"""Clients of groups, as their ids tell.

Reaches into `oracle.report.group_clients` to compare single ids.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from oracle.report.advice import AdviceKind, Ground
from oracle.report.client_row import ClientRow
from oracle.report.group_clients import ASSIGNOR, CLIENT_ID, NOTHING, clients_of
from tests.oracle.report.audits import Audit
from tests.oracle.report.scenes import BEST, LOPSIDED, RESTLESS, even

UUID = "01234567-89ab-cdef-0123-456789abcdef"


@pytest.mark.parametrize(
    ("client_id", "client"),
    [
        ("consumer-orders-1", "kafka-clients"),
        ("consumer-orders-a-static-name", "kafka-clients"),
        ("consumer-12", "kafka-clients"),
        ("console-consumer", "kafka-clients"),
        ("connector-consumer-sink-0", "kafka-connect"),
        ("app-1f-StreamThread-3-consumer", "kafka-streams"),
        ("rdkafka", "librdkafka"),
        ("kafka-python-2.0.2", "kafka-python"),
        ("aiokafka-0.14.0", "aiokafka"),
        ("sarama", "sarama"),
        ("kgo", "franz-go"),
        ("reader@host-1 (github.com/segmentio/kafka-go)", "kafka-go"),
        ("kafkajs", "kafkajs"),
        # Names of applications tell nothing, also if they begin alike.
        ("rdkafka-orders", None),
        ("consumer-other-1", None),
        ("orders-7", None),
        ("kafka-python-service", None),
        ("", None),
    ],
)
def test_the_client_that_an_id_looks_like(client_id: str, client: str | None) -> None:
    found = clients_of("orders", "range", [client_id])
    assert found.clients == (() if client is None else (client,))
    assert found.basis == (NOTHING if client is None else CLIENT_ID)
    assert (found.alike, found.members) == (int(client is not None), 1)


def test_several_clients_in_one_group() -> None:
    ids = ["rdkafka", "sarama", "rdkafka", "orders-1"]
    found = clients_of("orders", "range", ids)
    assert found.clients == ("librdkafka", "sarama")
    assert (found.alike, found.members, found.ids) == (3, 4, ("rdkafka", "sarama"))
    assert found.offers("round-robin")
    assert not found.offers("uniform")


def test_the_assignor_tells_the_client_if_no_id_does() -> None:
    found = clients_of("orders", "RoundRobinAssigner", ["orders-1"])
    assert (found.clients, found.basis) == (("kafkajs",), ASSIGNOR)
    assert clients_of("orders", "RoundRobinAssigner", ["kgo"]).clients == ("franz-go",)


def members(audit: Audit, generation: int, *ids: str | None, **more: str) -> None:
    """Add members with client ids to a rebalance."""
    for number, client_id in enumerate(ids):
        audit.add(
            "members",
            rebalance_id=f"orders#{generation}",
            group_id="orders",
            generation=generation,
            client_id=client_id,
            **({"member_id": f"m{number}"} | more),
        )


def restless(assignor: str = "range") -> Audit:
    audit = Audit()
    for generation in range(1, 7):
        audit.rebalance(
            even("orders"),
            {"actual": RESTLESS, "sticky": BEST, "round-robin": LOPSIDED},
            generation=generation,
            assignor=assignor,
        )
    return audit


def advised(audit: Audit, folder: Path) -> ClientRow:
    (row,) = audit.facts(folder / "audit").groups
    return row


def test_the_setting_of_the_clients_of_the_last_rebalance(tmp_path: Path) -> None:
    """Members of earlier ones do not count, nor those of other clusters."""
    audit = restless()
    members(audit, 1, "sarama")
    members(audit, 6, "rdkafka", "rdkafka", "rdkafka")
    other = Audit("test")
    members(other, 6, "kgo")
    audit.rows["members"] += other.rows["members"]
    row = advised(audit, tmp_path)
    (advice,) = row.advised
    assert (advice.kind, advice.assignor) == (AdviceKind.ASSIGNOR, "sticky")
    assert advice.gain is not None
    assert (advice.gain.now, advice.gain.then) == (3.0, 0.0)
    (change,) = advice.changes
    assert (change.client, change.assignor) == ("librdkafka", "cooperative-sticky")
    assert row.advice == (
        "use cooperative-sticky: 3.0 → 0.0 partitions per rebalance"
        " (client ids look like those of librdkafka)"
    )
    evidence, settings = row.settings
    assert evidence.title == (
        "3 of 3 client ids look like those of librdkafka (rdkafka):"
    )
    assert settings.steps == change.steps


def test_the_beginning_of_a_member_id_stands_for_the_client_id(tmp_path: Path) -> None:
    audit = restless()
    members(audit, 6, None, member_id=f"sarama-{UUID}")
    (advice,) = advised(audit, tmp_path).advised
    assert advice.clients.clients == ("sarama",)


def test_an_assignor_that_the_client_does_not_have_is_not_advised(
    tmp_path: Path,
) -> None:
    audit = restless("RoundRobinAssigner")
    members(audit, 6, "kafkajs", "kafkajs")
    row = advised(audit, tmp_path)
    (advice,) = row.advised
    assert (advice.kind, advice.reason) == (
        AdviceKind.NO_SETTING,
        Ground.CLIENT_LACKS,
    )
    assert not advice.changes
    assert not row.settings
    assert row.advice == (
        "(cooperative-)sticky would do better, 3.0 → 0.0 partitions per rebalance, but"
        " kafkajs does not have it (client ids look like those of kafkajs)"
    )


def test_without_evidence_the_settings_of_all_clients_are_shown(tmp_path: Path) -> None:
    audit = restless()
    members(audit, 6, "orders-1", "orders-2")
    row = advised(audit, tmp_path)
    (advice,) = row.advised
    assert len(advice.changes) > 5
    assert "client ids" not in row.advice
    assert row.settings[0].title.startswith("The records do not tell the client.")
