"""Groups on the broker of this process."""

from __future__ import annotations

from itertools import count

import pytest

from conformance.broker import Broker
from tests.oracle.plugins.groups import TOPICS
from tests.oracle.plugins.real import Place

NUMBER = count()


@pytest.fixture(scope="session")
def topics(broker: Broker) -> dict[str, int]:
    """Make the topics that all of these groups want."""
    Place(broker=broker, group="", topics=TOPICS).make_topics()
    return TOPICS


@pytest.fixture
def place(broker: Broker, topics: dict[str, int]) -> Place:
    return Place(broker=broker, group=f"plugins-{next(NUMBER)}", topics=topics)
