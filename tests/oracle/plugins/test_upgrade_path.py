"""Advised settings in groups of a real broker: every step leaves the group at work.

Reaches into `oracle.report.client_settings` for the settings.
"""

from __future__ import annotations

import pytest

from oracle.report.client_settings import changes
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


@pytest.mark.parametrize("target", ["uniform", "server-range"])
def test_the_new_protocol_of_librdkafka(place: Place, target: str) -> None:
    (change,) = changes(("librdkafka",), None, target)
    (step,) = change.steps
    members = [place.librdkafka_with(step.setting) for _ in range(2)]
    place.settled(*members)
    for member in members:
        member.leave()
