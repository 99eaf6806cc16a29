"""Settings of clients, compared with the clients' declarations and their packages.

Reaches into `oracle.report.client_settings` to compare its data.
"""

from __future__ import annotations

import re
from pathlib import Path

import confluent_kafka
import pytest

from conformance.clients import all_client_assignors
from oracle.report.client_settings import (
    CLIENTS,
    PRESENT,
    REMOTE,
    changes,
)
from oracle.summary import CLASSIC, CONSUMER
from tests.support.wire import TESTS

OF_KAFKA = {"kafka-connect", "kafka-streams"}
"""Programs around kafka-clients that are no clients of their own."""
KAFKAJS = {"roundrobin": "RoundRobinAssigner"}
"""The name that the client itself gives its assignor."""
EAGER = {"range", "roundrobin", "sticky", "rack-affinity", "RoundRobinAssigner"}
PACKAGES = TESTS.parent / "build" / "clients"


def declared() -> dict[str, set[str]]:
    """Return the assignors that each client declares, by protocol name."""
    found: dict[str, set[str]] = {}
    for known in all_client_assignors():
        names = KAFKAJS if known.client == "kafkajs" else {}
        name = names.get(known.assignor, known.assignor)
        found.setdefault(known.client, set()).add(name)
    return found


def test_the_clients_are_those_of_the_registry_with_their_assignors() -> None:
    registered = declared()
    del registered["group-coordinator"]  # it is a part of the broker
    assert registered.keys() == CLIENTS.keys() - OF_KAFKA
    assert registered == {name: {*CLIENTS[name].assignors} for name in registered}


@pytest.mark.parametrize("name", CLIENTS)
def test_the_data_of_a_client_agree_with_each_other(name: str) -> None:
    client = CLIENTS[name]
    assert client.sources
    assert {*client.targets} <= {*CLASSIC}
    assert {*client.targets.values()} <= {*client.assignors}
    assert {*client.stopped} <= {*client.assignors} - EAGER
    assert {*client.notes} <= {*client.assignors, "*"}
    assert bool(client.targets) == bool(client.setting)
    texts = (client.setting, client.remote)
    assert all(text.count("{}") == 1 for text in texts if text)
    for text in client.client_ids:
        re.compile(text.replace("{group}", "g"))


def test_every_target_can_be_had() -> None:
    """Also the coordinator's, by the names that it has for them."""
    for target in (*CLASSIC, *CONSUMER):
        assert changes((), None, target), target
    every = all_client_assignors()
    names = {known.assignor for known in every if "coord" in known.client}
    assert {*REMOTE.values()} == names
    assert {*REMOTE} == {*CONSUMER}


def test_two_bounces_of_java() -> None:
    (change,) = changes(("kafka-clients",), "range", "sticky")
    package = "org.apache.kafka.clients.consumer"
    before, after = f"{package}.RangeAssignor", f"{package}.CooperativeStickyAssignor"
    assert change.assignor == "cooperative-sticky"
    assert [step.setting for step in change.steps] == [
        f"partition.assignment.strategy={before},{after}",
        f"partition.assignment.strategy={after}",
    ]


GROUP_STRATEGIES = "config.Consumer.Group.Rebalance.GroupStrategies = []sarama"
STICKY = "sarama.NewBalanceStrategySticky()"


@pytest.mark.parametrize(
    ("client", "present", "target", "settings"),
    [
        # It refuses both in one list.
        ("librdkafka", "range", "sticky", "{strategy}=cooperative-sticky"),
        (
            "kafka-python",
            "range",
            "sticky",
            (
                "{python}=[RangePartitionAssignor, StickyPartitionAssignor]|"
                "{python}=[StickyPartitionAssignor]"
            ),
        ),
        (
            "franz-go",
            "own",
            "sticky",
            (
                f"kgo.Balancers({PRESENT}, kgo.CooperativeStickyBalancer())|"
                "kgo.Balancers(kgo.CooperativeStickyBalancer())"
            ),
        ),
        (
            "sarama",
            "roundrobin",
            "sticky",
            "{go}{sarama.NewBalanceStrategyRoundRobin(), {sticky}}|{go}{{sticky}}",
        ),
        (
            "kafka-clients",
            "server-range",
            "uniform",
            "group.protocol=consumer\ngroup.remote.assignor=uniform",
        ),
    ],
)
def test_the_settings_of_a_client(
    client: str, present: str, target: str, settings: str
) -> None:
    (change,) = changes((client,), present, target)
    words = {
        "{strategy}": "partition.assignment.strategy",
        "{python}": "partition_assignment_strategy",
        "{go}": f"{GROUP_STRATEGIES}.BalanceStrategy",
        "{sticky}": STICKY,
    }
    for short, word in words.items():
        settings = settings.replace(short, word)
    assert [step.setting for step in change.steps] == settings.split("|")


def test_a_client_without_the_assignor_has_no_change() -> None:
    assert changes(("kafkajs",), "RoundRobinAssigner", "sticky") == ()
    assert changes(("kafka-streams",), "stream", "sticky") == ()


def test_unknown_clients_are_those_that_have_the_present_assignor() -> None:
    having = {change.client for change in changes((), "sticky", "range")}
    assert "librdkafka" not in having
    assert {"kafka-clients", "sarama"} <= having
    assert len(changes((), "their-own", "sticky")) > len(having)


FRANZ_GO = "go/modules/github.com/twmb/franz-go@v1.15.4"
GROUP = "consumer/group.py"
ROUND_ROBIN = "src/consumer/assigners/roundRobinAssigner/index.js"


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("client", "file", "text"),
    [
        ("kafka-python-3.0.12", f"kafka/{GROUP}", "'kafka-python-' + __version__"),
        ("kafka-python-2.0.6", f"kafka/{GROUP}", "'kafka-python-' + __version__"),
        ("aiokafka-0.14.0", "aiokafka/client.py", '"aiokafka-" + __version__'),
        ("kafkajs-2.2.4", "src/network/connection.js", "clientId = 'kafkajs'"),
        ("kafkajs-2.2.4", ROUND_ROBIN, f"name: '{KAFKAJS['roundrobin']}'"),
        (FRANZ_GO, "pkg/kgo/config.go", 'defaultID := "kgo"'),
    ],
)
def test_the_own_names_of_clients_are_in_their_packages(
    client: str, file: str, text: str
) -> None:
    (path,) = _files(PACKAGES / client, file)
    assert text in path.read_text("utf-8")


def _files(folder: Path, file: str) -> list[Path]:
    if not folder.is_dir():
        pytest.fail(f"{folder.name} is not installed: run `make clients`")
    found = [folder / file] if (folder / file).is_file() else []
    return found or [
        *folder.glob(f"*/lib/*/site-packages/{file}"),
        *folder.glob(f"node_modules/*/{file}"),
    ]


@pytest.mark.heavy
def test_librdkafka_accepts_each_step_and_refuses_both_kinds() -> None:
    steps = [
        step.setting
        for present in ("range", "roundrobin")
        for target in (*CLASSIC, *CONSUMER)
        for change in changes(("librdkafka",), present, target)
        for step in change.steps
    ]
    for text in steps:
        settings = dict(line.split("=") for line in text.splitlines())
        confluent_kafka.Consumer({"group.id": "g", **settings}).close()
    both = {"partition.assignment.strategy": "range,cooperative-sticky"}
    with pytest.raises(confluent_kafka.KafkaException, match="online migration"):
        confluent_kafka.Consumer({"group.id": "g", **both})
