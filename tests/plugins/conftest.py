"""One broker for all groups that only need one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from conformance.broker import Broker, running_broker
from tests.plugins.groups import TOPICS
from tests.plugins.real import Place

NUMBER = count()


@pytest.fixture(scope="package")
def broker() -> Iterator[Broker]:
    with running_broker(rack="r") as broker:
        Place(broker=broker, group="", topics=TOPICS).make_topics()
        yield broker


@pytest.fixture
def place(broker: Broker) -> Place:
    return Place(broker=broker, group=f"g{next(NUMBER)}", topics=TOPICS)
