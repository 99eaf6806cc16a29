"""The sources' own examples, exactly, for deterministic algorithms.

KIP-54's, KIP-169's and KIP-615's are in the corpus (``tests/conformance/corpus``); this
module has the Javadoc's and those of Kafka 4.0's unit tests, named as there.
"""

from __future__ import annotations

import pytest

from tests.heuristics.routes import assigned
from tests.references.heuristics import Held
from tests.support.shapes import Document, member, rebalance


def group(topics: dict[str, int], **subscriptions: list[str]) -> Document:
    return rebalance(topics, {m: member(wanted) for m, wanted in subscriptions.items()})


def static(topics: dict[str, int], **instance_ids: str | None) -> Document:
    """All members want all topics; some are static."""
    members = {m: member(list(topics)) for m in instance_ids}
    for m, instance_id in instance_ids.items():
        if instance_id is not None:
            members[m]["instance_id"] = instance_id
    return rebalance(topics, members)


BOTH = ["t0", "t1"]


def test_range_javadoc() -> None:
    held = assigned("range", group({"t0": 3, "t1": 3}, C0=BOTH, C1=BOTH))
    assert held == {"C0": {"t0": [0, 1], "t1": [0, 1]}, "C1": {"t0": [2], "t1": [2]}}


def test_round_robin_javadoc() -> None:
    held = assigned("round-robin", group({"t0": 3, "t1": 3}, C0=BOTH, C1=BOTH))
    assert held == {"C0": {"t0": [0, 2], "t1": [1]}, "C1": {"t0": [1], "t1": [0, 2]}}


def test_lag_aware_javadoc() -> None:
    lagging = {"t0": {"partitions": 3, "lag": [100_000, 50_000, 60_000]}}
    members = {"C0": member(["t0"]), "C1": member(["t0"])}
    held = assigned("lag-aware", rebalance(lagging, members))
    assert held == {"C0": {"t0": [0]}, "C1": {"t0": [1, 2]}}


# Static members go first, by instance id (KIP-345).
PERSISTENT = ["instance1", "instance2", "instance3"]


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("range", {"t0": [0, 1], "t1": [0, 1]}, {"t0": [2], "t1": [2]}),
        ("round-robin", {"t0": [0, 2], "t1": [1]}, {"t0": [1], "t1": [0, 2]}),
    ],
)
def test_two_static_consumers_two_topics_six_partitions(
    name: str, low: dict[str, list[int]], high: dict[str, list[int]]
) -> None:
    document = static(
        {"t0": 3, "t1": 3}, **{"consumer-b": "instance1", "consumer-a": "instance2"}
    )
    assert assigned(name, document) == {"consumer-a": high, "consumer-b": low}


@pytest.mark.parametrize("name", ["range", "round-robin"])
def test_one_static_consumer_comes_before_the_dynamic_one(name: str) -> None:
    document = static({"t0": 1}, **{"consumer-b": "instance1", "consumer-a": None})
    assert assigned(name, document) == {"consumer-a": {}, "consumer-b": {"t0": [0]}}


@pytest.mark.parametrize("dynamic", ["consumer4", "consumer5", "a"])
def test_static_member_range_assignment_persistent(dynamic: str) -> None:
    ids = dict(zip(["consumer1", "consumer2", "consumer3"], PERSISTENT, strict=True))
    held = assigned("range", static({"t1": 5, "t2": 4}, **ids, **{dynamic: None}))
    assert held == {
        "consumer1": {"t1": [0, 1], "t2": [0]},
        "consumer2": {"t1": [2], "t2": [1]},
        "consumer3": {"t1": [3], "t2": [2]},
        dynamic: {"t1": [4], "t2": [3]},
    }


@pytest.mark.parametrize("names", [["c1", "c2", "c3"], ["c1", "c5", "c4"]])
def test_static_member_round_robin_assignment_outlives_member_ids(
    names: list[str],
) -> None:
    ids = dict(zip(names, PERSISTENT, strict=True))
    held = assigned("round-robin", static({"t1": 5, "t2": 5}, **ids))
    assert held == {
        names[0]: {"t1": [0, 3], "t2": [1, 4]},
        names[1]: {"t1": [1, 4], "t2": [2]},
        names[2]: {"t1": [2], "t2": [0, 3]},
    }


def test_lag_aware_knows_no_static_members() -> None:
    document = static({"t0": 1}, **{"consumer-b": "instance1", "consumer-a": None})
    document["topics"]["t0"]["lag"] = [5]
    held = assigned("lag-aware", document)
    assert held == {"consumer-a": {"t0": [0]}, "consumer-b": {}}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("range", {"c1": {"t1": [0]}, "c2": {"t1": [1], "t2": [0, 1]}}),
        ("round-robin", {"c1": {"t1": [0]}, "c2": {"t1": [1], "t2": [0, 1]}}),
    ],
)
def test_multiple_consumers_mixed_topics(name: str, expected: Held) -> None:
    document = group({"t1": 3, "t2": 2}, c1=["t1"], c2=["t1", "t2"], c3=["t1"])
    assert assigned(name, document) == expected | {"c3": {"t1": [2]}}


def test_range_three_topics_of_uneven_size() -> None:
    wanted = ["t1", "t2", "t3"]
    held = assigned(
        "range", group({"t1": 6, "t2": 7, "t3": 2}, c0=wanted, c1=wanted, c2=wanted)
    )
    assert held == {
        "c0": {"t1": [0, 1], "t2": [0, 1, 2], "t3": [0]},
        "c1": {"t1": [2, 3], "t2": [3, 4], "t3": [1]},
        "c2": {"t1": [4, 5], "t2": [5, 6]},
    }


# AbstractStickyAssignorTest, the constrained path.

Claims = dict[str, list[int]]


@pytest.mark.parametrize(
    ("counts", "claims", "expected"),
    [
        pytest.param(
            {"t1": 2, "t2": 3},
            [{"t1": [0], "t2": [1]}, {"t1": [1], "t2": [2]}],
            [{"t1": [0], "t2": [0, 1]}, {"t1": [1], "t2": [2]}],
            id="ConsumerOwningMinQuotaExpectedMaxQuota",
        ),
        pytest.param(
            {"t1": 2, "t2": 3},
            [{"t1": [0]}, {"t1": [1]}, {}],
            [{"t1": [0], "t2": [1]}, {"t1": [1], "t2": [2]}, {"t2": [0]}],
            id="AllConsumersAreUnderMinQuota",
        ),
        pytest.param(
            {"t": 4},
            [{"t": [0, 1]}, {"t": [2]}, {}],
            [{"t": [0, 1]}, {"t": [2]}, {"t": [3]}],
            id="AllConsumersReachExpectedQuotaAndAreConsideredFilled",
        ),
        pytest.param(
            {"t": 3},
            [{"t": [0, 1]}, {"t": [0, 2]}, {}],
            [{"t": [1]}, {"t": [2]}, {"t": [0]}],
            id="ClaimedByMultipleConsumersInSameGenerationEqualPartitions",
        ),
        pytest.param(
            {"t": 4},
            [{"t": [0, 1]}, {"t": [0, 2]}, {}],
            [{"t": [1, 3]}, {"t": [2]}, {"t": [0]}],
            id="ClaimedByMultipleConsumersInSameGenerationUnequalPartitions",
        ),
        pytest.param(
            {"t1": 6, "t2": 7, "t3": 2},
            [{}, {}, {}],
            [
                {"t1": [0, 3], "t2": [0, 3, 6]},
                {"t1": [1, 4], "t2": [1, 4], "t3": [0]},
                {"t1": [2, 5], "t2": [2, 5], "t3": [1]},
            ],
            id="RackAwareAssignmentWithUniformSubscriptionNonRackAware",
        ),
        pytest.param(
            {"t1": 4, "t2": 4},
            [{"t1": [0, 1, 2, 3], "t2": [0, 1, 2, 3]}, {}],
            [{"t1": [0, 1], "t2": [0, 1]}, {"t1": [2, 3], "t2": [2, 3]}],
            id="TopicBalanceAfterReassignment",
        ),
    ],
)
def test_constrained_sticky(
    counts: dict[str, int], claims: list[Claims], expected: list[Claims]
) -> None:
    members = {
        f"consumer{i}": member(list(counts), owned, 1)
        for i, owned in enumerate(claims, start=1)
    }
    held = assigned("constrained-sticky", rebalance(counts, members))
    assert list(held.values()) == expected


def test_constrained_sticky_first_owners_over_quota_keep_the_extra_one() -> None:
    """Upstream's ``MaxQuotaConsumerMoreThanNumExpectedMaxCapacityMembers``.

    There the hash order of the member ids lets consumer2 keep two; ours is by id.
    """
    wanted = ["t1", "t2"]
    members = {
        "consumer1": member(wanted, {"t1": [0], "t2": [0]}, 1),
        "consumer2": member(wanted, {"t1": [1], "t2": [1]}, 1),
        "consumer3": member(wanted, {}, 1),
    }
    assert assigned("constrained-sticky", rebalance({"t1": 2, "t2": 2}, members)) == {
        "consumer1": {"t1": [0], "t2": [0]},
        "consumer2": {"t1": [1]},
        "consumer3": {"t2": [1]},
    }
