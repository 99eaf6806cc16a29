"""Advised settings in groups of a real broker: every step leaves the group at work.

Reaches into `oracle.report.client_settings` for the settings.
"""

from __future__ import annotations

import re
from pkgutil import resolve_name

import pytest
from kafka import KafkaConsumer
from kafka.errors import KafkaConfigurationError

from oracle.report.client_settings import CLIENTS, changes
from tests.oracle.plugins.real import Place

pytestmark = pytest.mark.heavy


def test_two_bounces_of_java(place: Place) -> None:
    """The present assignor stays selected until the second bounce has begun."""
    (change,) = changes(("kafka-clients",), "range", "sticky")
    both, alone = (step.setting for step in change.steps)
    members = [place.java("range"), place.java("range")]
    place.settled(*members)
    for setting, selected in ((both, "range"), (alone, "cooperative-sticky")):
        for number in range(len(members)):
            members[number].leave()
            members[number] = place.java_with(setting)
            place.settled(*members)
        assert place.generations()[-1].protocol == selected
    for member in members:
        member.leave()


def test_a_stop_of_librdkafka(place: Place) -> None:
    (change,) = changes(("librdkafka",), "range", "sticky")
    (step,) = change.steps
    members = [place.librdkafka("range"), place.librdkafka("range")]
    place.settled(*members)
    for member in members:
        member.leave()
    place.wait_until_empty()
    members = [place.librdkafka_with(step.setting) for _ in members]
    place.settled(*members)
    assert place.generations()[-1].protocol == "cooperative-sticky"
    for member in members:
        member.leave()


@pytest.mark.parametrize("client", ["kafka-python", "aiokafka"])
def test_two_bounces_of_a_client_in_python(place: Place, client: str) -> None:
    (change,) = changes((client,), "range", "sticky")
    both, alone = (classes_of(step.setting) for step in change.steps)
    start = place.kafka_python if client == "kafka-python" else place.aiokafka
    members = [start("range"), start("range")]
    place.settled(*members)
    for classes, selected in ((both, "range"), (alone, "sticky")):
        for number in range(len(members)):
            members[number].leave()
            members[number] = start(*(names_of(client)[name] for name in classes))
            place.settled(*members)
        assert place.generations()[-1].protocol == selected
    for member in members:
        member.leave()


@pytest.mark.parametrize("client", ["kafka-python", "aiokafka"])
def test_the_classes_of_a_client_in_python_are_where_the_note_says(client: str) -> None:
    note = CLIENTS[client].notes["*"]
    (package,) = re.findall(r"Classes of ([\w.]+):", note)
    found = {}
    for module, name in re.findall(r"([\w.]+)\.(\w+Assignor)", note):
        found[name] = resolve_name(f"{package}.{module}:{name}").name
    assert found.items() <= names_of(client).items()
    assert {*found.values()} == {*CLIENTS[client].targets.values()}


def test_kafka_python_refuses_both_kinds(place: Place) -> None:
    package = "kafka.coordinator.assignors"
    classes = [
        resolve_name(f"{package}.range:RangePartitionAssignor"),
        resolve_name(f"{package}.cooperative_sticky:CooperativeStickyAssignor"),
    ]
    with pytest.raises(KafkaConfigurationError, match="Mixing EAGER and COOPERATIVE"):
        KafkaConsumer(
            bootstrap_servers=place.broker.address,
            group_id=place.group,
            partition_assignment_strategy=classes,
        )


def classes_of(setting: str) -> list[str]:
    """Return the classes of a list in Python."""
    name, _, listed = setting.partition("=")
    assert name == "partition_assignment_strategy"
    return listed.strip("[]").split(", ")


def names_of(client: str) -> dict[str, str]:
    """Return the protocol names of a client's classes."""
    return {text: name for name, text in CLIENTS[client].assignors.items()}


@pytest.mark.parametrize("target", ["uniform", "server-range"])
def test_the_new_protocol_of_librdkafka(place: Place, target: str) -> None:
    (change,) = changes(("librdkafka",), None, target)
    (step,) = change.steps
    members = [place.librdkafka_with(step.setting) for _ in range(2)]
    place.settled(*members)
    for member in members:
        member.leave()
