"""The coordinator's range (KIP-848).

The examples are those of group-coordinator's ``RangeAssignorTest`` (Kafka 4.0).
"""

from __future__ import annotations

import pytest

from heuristics import ASSIGNORS
from tests.heuristics.routes import (
    faults,
    held_by,
    instance,
    without_racks,
)
from tests.references.heuristics import Held
from tests.references.range_racks import range_
from tests.support.shapes import RACKS, Document, member, rebalance

SERVER_RANGE = ASSIGNORS["server-range"]


def agrees(document: Document) -> None:
    assert SERVER_RANGE.refuses(instance(document)) is None
    held = held_by(SERVER_RANGE, document)
    plain = without_racks(document)
    assert held == range_(plain) == held_by(ASSIGNORS["range"], plain)
    assert faults(document, held) == []


@pytest.mark.parametrize(
    ("counts", "members", "expected"),
    [
        pytest.param(
            {"t1": 3, "t3": 2},
            {"A": member(["t1", "t3"]), "B": member(["t1", "t3"])},
            {"A": {"t1": [0, 1], "t3": [0]}, "B": {"t1": [2], "t3": [1]}},
            id="FirstAssignmentTwoMembersTwoTopicsSameSubscriptions",
        ),
        pytest.param(
            {"t1": 3, "t2": 3, "t3": 2},
            {
                "A": member(["t1", "t2"]),
                "B": member(["t3"]),
                "C": member(["t2", "t3"]),
            },
            {
                "A": {"t1": [0, 1, 2], "t2": [0, 1]},
                "B": {"t3": [0]},
                "C": {"t2": [2], "t3": [1]},
            },
            id="FirstAssignmentThreeMembersThreeTopicsDifferentSubscriptions",
        ),
        pytest.param(
            {"t1": 3, "t3": 2},
            {name: member(["t1", "t3"]) for name in "ABC"},
            {
                "A": {"t1": [0], "t3": [0]},
                "B": {"t1": [1], "t3": [1]},
                "C": {"t1": [2]},
            },
            id="FirstAssignmentNumMembersGreaterThanNumPartitions",
        ),
        pytest.param(
            {"t1": 3, "t2": 3},
            {
                "A": member(["t1", "t2"], {"t1": [0, 1], "t2": [0, 1]}),
                "B": member(["t1", "t2"], {"t1": [2], "t2": [2]}),
                "C": member(["t1", "t2"]),
            },
            {name: {"t1": [i], "t2": [i]} for i, name in enumerate("ABC")},
            id="ReassignmentWhenOneMemberAdded",
        ),
        pytest.param(
            {"t1": 3, "t2": 3, "t3": 2},
            {
                "A": member(["t1"], {"t1": [0, 1, 2], "t2": [0]}),
                "B": member(["t1", "t2", "t3"], {"t2": [1]}),
                "C": member(["t2"], {"t2": [2], "t3": [0, 1]}),
            },
            {
                "A": {"t1": [0, 1]},
                "B": {"t1": [2], "t2": [0, 1], "t3": [0, 1]},
                "C": {"t2": [2]},
            },
            id="ReassignmentWhenMultipleSubscriptionsRemoved",
        ),
    ],
)
def test_upstream_example(
    counts: dict[str, int], members: Document, expected: Held
) -> None:
    assert held_by(SERVER_RANGE, rebalance(counts, members)) == expected


def test_static_membership() -> None:
    """Static members come first, by instance id; a new member id changes nothing."""
    for returned in ("A", "memberA1"):
        members = {
            returned: member(["t"]) | {"instance_id": "instanceA"},
            "B": member(["t"]),
            "C": member(["t"]) | {"instance_id": "instanceC"},
        }
        assert held_by(SERVER_RANGE, rebalance({"t": 5}, members)) == {
            returned: {"t": [0, 1]},
            "B": {"t": [4]},
            "C": {"t": [2, 3]},
        }


def test_racks_do_not_count() -> None:
    """They do to the client's range, which gives these members every second one."""
    held = held_by(SERVER_RANGE, RACKS)
    assert held == {"c0": {"t1": [0, 1]}, "c1": {"t1": [2, 3]}}
    assert held != held_by(ASSIGNORS["range"], RACKS)


def test_a_subscription_to_a_missing_topic_brings_nothing() -> None:
    """Upstream raises: ``PartitionAssignorException``."""
    members = {"A": member(["t", "gone"]), "B": member(["gone"])}
    held = held_by(SERVER_RANGE, rebalance({"t": 2}, members))
    assert held == {"A": {"t": [0, 1]}, "B": {}}
