"""Groups of kafka-go, whose version 1 of a subscription lacks its owned partitions."""

from __future__ import annotations

from tests.pipeline.groups import group, member, replay

SUBSCRIPTION = bytes.fromhex("0001 00000001 0001 74 ffffffff")
"""What kafka-go 0.4.42 and 0.4.51 send for topic t with ``range``."""


def test_bug_a_group_of_kafka_go_could_not_be_read() -> None:
    a = member("a", [], {"t": [0, 1]})._replace(subscription=SUBSCRIPTION)
    b = member("b", [], {"t": [1]})._replace(subscription=SUBSCRIPTION)
    _, second = replay(group(1, a), group(2, a, b))
    assert second.members is not None
    assert {m: about.subscription for m, about in second.members.items()} == {
        "a": ["t"],
        "b": ["t"],
    }
    assert second.members["a"].owned == {"t": [0, 1]}
    assert second.members["b"].assigned == {"t": [1]}
