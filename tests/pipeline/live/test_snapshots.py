"""From the state of a cluster to documents, without a cluster."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.live import ClusterState, GroupSnapshot, LiveGroup, snapshots_of
from pipeline.live.cluster_state import MemberState, TopicState, Unreported
from rebalance import OffsetReset, instance_of, plain_of
from verify import judge

TOPICS = {
    "orders": TopicState(
        partitions=2,
        racks=(("a",), ("a", "b")),
        ends=((0, 10), (5, 20)),
    ),
    "orders-eu": TopicState(partitions=1, ends=((0, 7),)),
    "payments": TopicState(partitions=3),
}
NAMES = tuple(TOPICS)


def member(name: str, **more: object) -> MemberState:
    fields: dict[str, object] = {
        "subscription": ("orders",),
        "held": {},
        "target": {},
    } | more
    return MemberState(member_id=name, **fields)  # type: ignore[arg-type]


def cluster(*members: MemberState, **more: object) -> ClusterState:
    group = LiveGroup(
        group_id="g",
        protocol="classic",
        state="Stable",
        assignor="range",
        members=members,
        **more,  # type: ignore[arg-type]
    )
    return ClusterState(groups=(group,), topics=TOPICS, names=NAMES)


def taken(state: ClusterState, reset: str = "earliest") -> GroupSnapshot:
    (found,) = snapshots_of(state, OffsetReset(reset))
    assert isinstance(found, GroupSnapshot), found
    return found


def refused(state: ClusterState) -> str:
    (found,) = snapshots_of(state, OffsetReset.EARLIEST)
    assert isinstance(found, Unreported)
    assert found.group_id == "g"
    return found.reason


def test_a_group_becomes_an_instance_and_its_assignment() -> None:
    held = {"orders": [0]}
    state = cluster(
        member("m1", held=held, target=held, rack="a", instance_id="s"),
        member("m2", held={"orders": [1]}, target={"orders": [1]}),
        committed={"orders": {0: 4}},
    )
    found = taken(state)
    assert plain_of(found.rebalance) == {
        "format": "rebalance/1",
        "group": "g",
        "id": "g",
        "topics": {
            "orders": {"partitions": 2, "racks": [["a"], ["a", "b"]], "lag": [6, 15]}
        },
        "members": {
            "m1": {
                "subscription": ["orders"],
                "owned": {"orders": [0]},
                "rack": "a",
                "instance_id": "s",
            },
            "m2": {"subscription": ["orders"], "owned": {"orders": [1]}},
        },
    }
    answer = plain_of(found.assignment)
    assert answer["assignor"] == "range"
    assert answer["members"] == {"m1": {"orders": [0]}, "m2": {"orders": [1]}}
    verdict = judge(plain_of(found.rebalance), answer)
    assert verdict["verdict"] == "valid"
    assert verdict["figures"]["moves"] == 0


def test_without_commits_lag_starts_where_consumers_start() -> None:
    state = cluster(member("m"), committed={})
    topic = taken(state).rebalance.topics["orders"]
    assert topic.lag == [10, 15]
    assert taken(state, "latest").rebalance.topics["orders"].lag == [0, 0]


def test_unreadable_commits_mean_no_lag() -> None:
    topic = taken(cluster(member("m"), committed=None)).rebalance.topics["orders"]
    assert topic.lag is None


def test_unknown_log_ends_mean_no_lag() -> None:
    state = cluster(member("m", subscription=("payments",)), committed={})
    assert taken(state).rebalance.topics["payments"].lag is None


def test_the_target_is_the_answer_and_what_is_held_is_owned() -> None:
    state = cluster(member("m", held={"orders": [0]}, target={"orders": [0, 1]}))
    found = taken(state)
    assert found.rebalance.members["m"].owned == {"orders": [0]}
    assert found.assignment.members == {"m": {"orders": [0, 1]}}


@pytest.mark.parametrize(
    ("pattern", "topics"),
    [("orders.*", ["orders", "orders-eu"]), ("orders", ["orders"]), ("nothing", [])],
)
def test_a_pattern_matches_whole_names(pattern: str, topics: list[str]) -> None:
    state = cluster(member("m", subscription=(), pattern=pattern))
    found = taken(state)
    assert found.rebalance.members["m"].subscription == topics
    assert sorted(found.rebalance.topics) == topics


@pytest.mark.parametrize("pattern", [r"\pL+", "[[:alpha:]]+", "(", r"\Qa.b\E"])
def test_a_pattern_that_cannot_be_evaluated_is_named(pattern: str) -> None:
    reason = refused(cluster(member("m", subscription=(), pattern=pattern)))
    assert reason == f"cannot evaluate the subscription pattern {pattern!r}"


def test_a_subscription_that_is_not_reported_is_not_guessed() -> None:
    reason = refused(cluster(member("m", subscription=None)))
    assert reason == "no subscription is reported for member m"


def test_a_deleted_topic_is_in_no_document() -> None:
    gone = {"gone": [0], "orders": [0]}
    state = cluster(
        member("m", subscription=("gone", "orders"), held=gone, target=gone)
    )
    found = taken(state)
    assert list(found.rebalance.topics) == ["orders"]
    assert found.assignment.members == {"m": {"orders": [0]}}
    assert found.rebalance.members["m"].owned == gone  # a claim can be stale


@pytest.mark.heavy
@given(st.data())
def test_every_state_becomes_documents_that_agree(data: st.DataObject) -> None:
    """Whatever is held and committed, the instance is sound and nothing moves."""
    names = data.draw(st.lists(st.sampled_from("abc"), min_size=1, unique=True))
    held: dict[str, dict[str, list[int]]] = {name: {} for name in names}
    for topic, state in TOPICS.items():
        for number in range(state.partitions):
            owner = data.draw(st.sampled_from([None, *names]))
            if owner is not None:
                held[owner].setdefault(topic, []).append(number)
    offsets = st.dictionaries(st.integers(0, 2), st.integers(0, 30))
    committed = data.draw(st.none() | st.dictionaries(st.sampled_from(NAMES), offsets))
    found = taken(
        cluster(
            *(
                member(name, subscription=NAMES, held=held[name], target=held[name])
                for name in names
            ),
            committed=committed,
        )
    )
    instance = instance_of(found.rebalance)
    owners = {n for n in names if held[n]}
    assert {instance.members[m] for m in instance.owner if m >= 0} == owners
    verdict = judge(plain_of(found.rebalance), plain_of(found.assignment))
    rules = {violation["rule"] for violation in verdict["violations"]}
    assert rules <= {"unassigned"}
    assert verdict["figures"]["moves"] == 0
    lag = found.rebalance.topics["orders"].lag
    assert (lag is None) == (committed is None)
    if lag is not None:
        assert all(
            0 <= records <= most for records, most in zip(lag, (10, 15), strict=True)
        )
