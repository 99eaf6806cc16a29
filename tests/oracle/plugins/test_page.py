"""The examples of docs/plugins.md, run unchanged against a real broker."""

from __future__ import annotations

from typing import Any

import pytest
from kafka import KafkaProducer

from conformance.broker import Broker
from tests.oracle.plugins.real import Place
from tests.support.pages import ROOT, blocks

pytestmark = pytest.mark.heavy

PAGE = ROOT / "docs" / "plugins.md"
EXAMPLES = [text for _, _, text in blocks("python", [PAGE])]
RECORDS = 3


class EnoughError(Exception):
    """Ends an example that would go on for ever."""


@pytest.fixture(scope="module")
def topic(broker: Broker) -> str:
    """A topic with a few records, in the place of the one that the page names."""
    name = "plugins-page"
    Place(broker=broker, group="", topics={name: 2}).make_topics()
    producer = KafkaProducer(bootstrap_servers=broker.address)
    for n in range(RECORDS):
        producer.send(name, b"%d" % n, partition=n % 2)
    producer.close()
    return name


@pytest.mark.parametrize("number", range(3))
def test_examples_read_all_records(
    broker: Broker, topic: str, number: int, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[tuple[Any, ...]] = []

    def show(*values: Any) -> None:
        seen.append(values)
        if len(seen) == RECORDS:
            raise EnoughError

    text = EXAMPLES[number].replace("localhost:9092", broker.address)
    text = text.replace('"billing"', f'"billing-{number}"')
    text = text.replace('"orders"', f'"{topic}"')
    names: dict[str, Any] = {"print": show}
    try:
        with pytest.raises(EnoughError):
            exec(compile(text, str(PAGE), "exec"), names)  # noqa: S102  # our own page
    finally:
        if "consumer" in names:
            names["consumer"].close()
    assert sorted(seen) == [(topic, 0, 0), (topic, 0, 1), (topic, 1, 0)]
    assert not [record for record in caplog.records if record.name.startswith("oracle")]


def test_there_are_as_many_examples() -> None:
    assert len(EXAMPLES) == 3
