"""Target assignments, episodes, and gaps of groups of the new protocol (KIP-848)."""

from __future__ import annotations

import pytest

from pipeline.cases import OPEN, PREVIOUS, REST, Case, pack, unpack
from pipeline.history.consumer_history import NO_PREVIOUS
from pipeline.records import (
    ConsumerGroupPartitionMetadata,
    ConsumerGroupRegularExpression,
)
from pipeline.sources.rows import MISSING, SET_ASIDE
from tests.pipeline.consumer_groups import (
    FIRST,
    JOIN,
    complete,
    ended,
    epoch,
    gone,
    has,
    matches,
    new_member,
    owned,
    rebuild,
    sizes,
    target,
    tombstone,
)
from tests.pipeline.groups import GROUP, START_MS, commit


def assigned(case: Case) -> dict[str, dict[str, list[int]] | None]:
    return {name: member.assigned for name, member in (case.members or {}).items()}


def test_a_new_group_owns_nothing() -> None:
    (case,) = rebuild(*FIRST).cases
    assert (case.protocol, case.generation, case.rebalance_id) == ("consumer", 2, "7/3")
    assert (case.owned_from, owned(case)) == (PREVIOUS, {})
    assert assigned(case) == {"a": {"t": [0, 1, 2, 3]}}
    assert case.members is not None
    assert (case.members["a"].joined, case.members["a"].claimed) == (True, None)
    assert (case.left, case.resubscribed, case.claims_disagree) == (0, 0, 0)
    assert (case.behind, case.reached_ms) == (0, 1000)
    assert not case.cooperative
    assert case.leader is None


@pytest.mark.parametrize("first", [1, 2])
def test_the_first_epoch_of_both_kinds_of_brokers(first: int) -> None:
    """Kafka 4.0 counts from 1, versions that record the time of a target from 2."""
    records = new_member("a"), epoch(first), target("a", {"t": [0]})
    at = START_MS if first == 2 else 0
    found = rebuild(*records, complete(first, computed_at=at))
    assert [case.generation for case in found.cases] == [first]
    assert found.quarantined == []


def test_an_epoch_2_of_an_older_broker_is_not_the_first() -> None:
    """The target of the only member at epoch 1 was compacted away."""
    second = target("a", {"t": [0]}), complete(2, computed_at=0)
    third = epoch(3), target("a", {"t": [0, 1]}), complete(3, computed_at=0)
    found = rebuild(new_member("a"), epoch(2), *second, *third)
    assert found.reasons == [(MISSING, "epoch 2", NO_PREVIOUS)]
    assert [owned(case) for case in found.cases] == [{"a": {"t": [0]}}]


def test_owned_is_the_target_before_and_the_claim_is_the_current_assignment() -> None:
    _, second = rebuild(*FIRST, *JOIN).cases
    assert owned(second) == {"a": {"t": [0, 1, 2, 3]}}
    assert assigned(second) == {"a": {"t": [0, 1]}, "b": {"t": [2, 3]}}
    assert second.members is not None
    a, b = second.members["a"], second.members["b"]
    assert (a.generation, a.joined, a.claimed) == (2, False, {"t": [0, 1, 2, 3]})
    assert (a.claimed_generation, b.generation, b.joined) == (2, None, True)
    assert (b.claimed, second.claims_disagree) == (None, 0)


def test_a_target_is_reached_when_all_have_it() -> None:
    cases = rebuild(
        *FIRST,
        *JOIN,
        has("a", {"t": [0, 1]}, revoking={"t": [2, 3]}),
        has("a", {"t": [0, 1]}, number=3),
        has("b", {"t": [2]}, number=3),
        has("b", {"t": [2, 3]}, number=3),
    ).cases
    second = cases[-1]
    assert (second.behind, second.reached_ms) == (0, 5000)
    assert second.episode is not None
    assert (second.episode.ended, second.episode.rounds) == (REST, 1)
    # Released a second before the one, and two seconds before the other is received.
    assert second.episode.unowned_partition_ms == 1000 + 2000
    assert second.episode.before is None


def test_a_target_that_is_replaced_before_it_is_reached() -> None:
    cases = rebuild(
        *FIRST,
        *JOIN,
        new_member("c"),
        epoch(4),
        target("a", {"t": [0]}),
        target("c", {"t": [1]}),
        complete(4),
        has("a", {"t": [0]}, number=4),
        has("b", {"t": [2, 3]}, number=4),
        has("c", {"t": [1]}, number=4),
    ).cases
    _, second, third = cases
    assert (second.behind, second.reached_ms, second.episode) == (2, None, None)
    assert owned(third) == {"a": {"t": [0, 1]}, "b": {"t": [2, 3]}}
    assert third.members is not None
    assert third.members["a"].claimed == {"t": [0, 1, 2, 3]}
    assert third.claims_disagree == 2
    assert (third.round, third.episode_id) == (2, second.rebalance_id)
    assert third.episode is not None
    assert (third.episode.rounds, third.episode.first_generation) == (2, 3)
    assert third.episode.before == {"a": {"t": [0, 1, 2, 3]}}
    assert third.behind == 0


def test_a_partition_that_is_being_revoked_is_not_kept() -> None:
    """The target gives it back, but the member has to revoke it first."""
    (*_, case) = rebuild(
        *FIRST,
        *JOIN,
        has("a", {"t": [0, 1]}, revoking={"t": [2, 3]}),
        *gone("b"),
        epoch(4),
        target("a", {"t": [0, 1, 2, 3]}),
        complete(4),
        has("a", {"t": [0, 1, 2, 3]}, number=4),
    ).cases
    assert (case.generation, case.behind, case.reached_ms) == (4, 0, 1000)


def test_epochs_can_share_a_target() -> None:
    found = rebuild(
        *FIRST,
        new_member("b"),
        epoch(3),
        *gone("a"),
        epoch(4),
        target("b", {"t": [0, 1, 2, 3]}),
        complete(4),
    )
    assert [case.generation for case in found.cases] == [2, 4]
    assert found.quarantined == []
    assert (found.cases[1].left, owned(found.cases[1])) == (1, {})


def test_a_target_of_an_earlier_epoch_has_its_members() -> None:
    """A target can be computed in the background (KIP-1263)."""
    found = rebuild(
        *FIRST,
        new_member("b"),
        epoch(3),
        new_member("c"),
        new_member("a")._replace(topics=("t", "u")),
        epoch(4),
        target("a", {"t": [0, 1]}),
        target("b", {"t": [2, 3]}),
        complete(3),
        target("c", {"t": [3]}),
        target("b", {"t": [2]}),
        complete(4),
    )
    _, third, fourth = found.cases
    assert found.quarantined == []
    assert third.members is not None
    assert third.members.keys() == {"a", "b"}
    assert third.members["a"].subscription == ["t"]
    assert (third.resubscribed, fourth.resubscribed) == (0, 1)
    assert owned(fourth) == {"a": {"t": [0, 1]}, "b": {"t": [2, 3]}}


def test_an_emptied_group_leaves_its_episode_open() -> None:
    again = new_member("c"), epoch(6), target("c", {"t": [0]}), complete(6)
    left = *gone("a"), epoch(4), *gone("b"), epoch(5)
    found = rebuild(*FIRST, *JOIN, *left, *again)
    _, second, third = found.cases
    assert second.episode is not None
    assert (second.episode.ended, second.behind, second.reached_ms) == (OPEN, 2, None)
    assert (owned(third), third.left) == ({}, 0)
    assert third.episode is not None
    assert third.episode.ended == OPEN  # the source ends


def test_a_deleted_group_begins_anew() -> None:
    found = rebuild(*FIRST, *gone("a"), epoch(3), *ended(), *FIRST)
    assert [case.generation for case in found.cases] == [2, 2]
    assert found.quarantined == []


# Members and subscriptions.


def test_a_static_member_owns_under_a_new_id() -> None:
    """Target and assignment are copied to the new id, without an epoch (KIP-345)."""
    found = rebuild(
        new_member("s-1", instance_id="s"),
        new_member("b"),
        epoch(2),
        target("s-1", {"t": [0, 1]}),
        target("b", {"t": [2, 3]}),
        complete(2),
        *gone("s-1"),
        new_member("s-2", instance_id="s"),
        target("s-2", {"t": [0, 1]}),
        has("s-2", {"t": [0, 1]}),
        new_member("b", ["t", "u"]),
        epoch(3),
        target("s-2", {"t": [0]}),
        target("b", {"t": [1, 2, 3]}),
        complete(3),
    )
    _, second = found.cases
    assert found.quarantined == []
    assert owned(second) == {"s-2": {"t": [0, 1]}, "b": {"t": [2, 3]}}
    assert second.members is not None
    assert second.members["s-2"].joined is False
    assert (second.left, second.resubscribed) == (0, 1)


def test_a_static_member_that_returns_within_an_epoch() -> None:
    found = rebuild(
        new_member("s-1", instance_id="s"),
        new_member("b"),
        epoch(2),
        target("s-1", {"t": [0, 1]}),
        target("b", {"t": [2, 3]}),
        complete(2),
        new_member("c"),
        epoch(3),
        *gone("s-1"),
        new_member("s-2", instance_id="s"),
        target("s-2", {"t": [0, 1]}),
        target("s-2", {"t": [0]}),
        target("c", {"t": [1]}),
        complete(3),
    )
    assert found.quarantined == []
    assert owned(found.cases[1]) == {"s-2": {"t": [0, 1]}, "b": {"t": [2, 3]}}


def test_bug_a_static_member_returns_before_its_target_is_reached() -> None:
    """Progress was noted by member id, so the target was never reached."""
    (case,) = rebuild(
        new_member("s-1", instance_id="s"),
        epoch(2),
        target("s-1", {"t": [0]}),
        complete(2),
        *gone("s-1"),
        new_member("s-2", instance_id="s"),
        target("s-2", {"t": [0]}),
        has("s-2", {}),
        has("s-2", {"t": [0]}),
    ).cases
    assert (case.behind, case.reached_ms) == (0, 7000)


def test_a_regular_expression_has_the_topics_that_the_group_resolved() -> None:
    found = rebuild(
        new_member("a", ["v"], regex="[tu]"),
        epoch(2),
        target("a", {"v": [0]}),
        complete(2),
        matches("[tu]", "t", "u"),
        epoch(3),
        target("a", {"t": [0], "u": [0], "v": [0]}),
        complete(3),
        tombstone(ConsumerGroupRegularExpression, "[tu]"),
        new_member("a", ["v"], regex="[tu]")._replace(client_host="/other"),
        epoch(4),
        complete(4),
    )
    wanted = [(c.members or {})["a"].subscription for c in found.cases]
    assert wanted == [["v"], ["t", "u", "v"], ["v"]]
    assert [case.resubscribed for case in found.cases] == [0, 1, 1]


def assignor_of(*named: str | None) -> str | None:
    members = [new_member(str(n), assignor=name) for n, name in enumerate(named)]
    targets = [target(member.member_id, {}) for member in members]
    (case,) = rebuild(*members, epoch(2), *targets, complete(2)).cases
    return case.client_assignor


def test_the_assignor_is_the_one_that_most_members_name() -> None:
    assert assignor_of(None) == "uniform"
    assert assignor_of("range", None, None) == "server-range"
    assert assignor_of("uniform", "range", "range") == "server-range"
    assert assignor_of("their.own") == "their.own"
    assert assignor_of("uniform", "range") is None


def test_partition_counts_that_kafka_4_0_records() -> None:
    first, second, third = rebuild(
        new_member("a"),
        sizes(t=4, v=1),
        epoch(1, metadata_hash=0),
        target("a", {"t": [0]}),
        complete(1),
        sizes(t=5),
        epoch(2),
        complete(2),
        tombstone(ConsumerGroupPartitionMetadata),
        epoch(3),
        complete(3),
    ).cases
    assert first.recorded_sizes == {"t": 4}
    assert second.recorded_sizes == {"t": 5}
    assert third.recorded_sizes is None


def test_offsets_are_those_committed_before() -> None:
    first, second = rebuild(
        commit("t", 1, 10), *FIRST, commit("t", 1, 20), commit("u", 0, 1), *JOIN
    ).cases
    assert pairs_of(first) == {"t": [(1, 10)]}
    assert pairs_of(second) == {"t": [(1, 20)]}


def pairs_of(case: Case) -> dict[str, list[tuple[int, int]]]:
    committed = (case.committed or {}).items()
    return {topic: [(n, offset) for n, offset in rows] for topic, rows in committed}


def test_a_case_survives_packing() -> None:
    for case in rebuild(*FIRST, *JOIN).cases:
        assert unpack(pack(case)) == case


def test_share_and_streams_groups_are_counted_by_name() -> None:
    share, streams = bytes.fromhex("000b0001"), bytes.fromhex("00110001")
    name = b"\x00\x06orders"[2:]
    assert name == GROUP.encode()
    length = len(GROUP).to_bytes(2, "big")
    found = rebuild(
        (share[:2] + length + name, b"\x00\x00"),
        (share[:2] + length + name, None),
        (streams[:2] + length + name, b"\x00\x00"),
    )
    assert found.reasons == [
        (SET_ASIDE, "ShareGroupMetadata", "share group (KIP-932)"),
        (SET_ASIDE, "StreamsGroupMetadata", "streams group (KIP-1071)"),
    ]
    assert [row["records"] for row in found.quarantined] == [2, 1]
    assert {row["group_id"] for row in found.quarantined} == {GROUP}
