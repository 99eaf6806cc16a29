"""Owned and assigned partitions, reconstructed from a group's records."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipeline.cases import CLAIMS, OPEN, PREVIOUS, REST, Case, pack, unpack
from pipeline.history.generations import why_not_judged
from pipeline.history.place import Place
from pipeline.history.reconstruct import GroupHistory
from pipeline.records import GroupMember, GroupMetadata, GroupTombstone
from rebalance import WireError
from rebalance.protocol import MemberAssignment, encode_assignment
from tests.pipeline.groups import GROUP, START_MS, commit, group, member, replay

COOP = "cooperative-sticky"
T = ["t"]


def owned(case: Case) -> dict[str, dict[str, list[int]]]:
    assert case.members is not None
    return {name: member.owned for name, member in case.members.items() if member.owned}


def test_owned_is_the_assignment_of_the_generation_before() -> None:
    first, second = replay(
        group(0),
        group(1, member("a", T, {"t": [0, 1]}), member("b", T, {"t": [2]})),
        group(2, member("b", T, {"t": [0, 1, 2, 3]}), member("c", T, {})),
    )
    assert owned(first) == {}
    assert first.owned_from == PREVIOUS
    assert owned(second) == {"b": {"t": [2]}}
    assert second.owned_from == PREVIOUS
    assert (second.generation, second.at) == (2, START_MS + 2000)
    assert (second.source_partition, second.source_offset) == (7, 2)
    assert second.rebalance_id == "7/2"
    assert second.members is not None
    assert second.members["b"].generation == 1
    assert second.members["c"].generation is None
    assert second.members["b"].assigned == {"t": [0, 1, 2, 3]}
    assert {n: m.joined for n, m in second.members.items()} == {"b": False, "c": True}
    assert (second.left, second.resubscribed) == (1, 0)


def test_a_changed_subscription_is_counted() -> None:
    _, second = replay(
        group(1, member("a", T, {"t": [0]}), member("b", T, {"t": [1]})),
        group(2, member("a", ["u"], {"u": [0]}), member("b", T, {"t": [0, 1]})),
    )
    assert second.resubscribed == 1


def test_a_topic_in_several_entries_is_one_topic() -> None:
    """librdkafka's cooperative leader writes partitions in the order it chose them."""
    parts = (("t", (6,)), ("u", (0,)), ("t", (0, 1)))
    message = encode_assignment(MemberAssignment(version=3, partitions=parts))
    split = member("a", ["t", "u"], {})._replace(assignment=message)
    first, second = replay(group(1, split), group(2, member("a", ["t", "u"], {})))
    whole = {"t": [0, 1, 6], "u": [0]}
    assert first.members is not None
    assert first.members["a"].assigned == whole
    assert owned(second) == {"a": whole}


def test_without_the_generation_before_claims_count() -> None:
    alone = member("a", T, {"t": [5]}, owns={"t": [5]}, generation=6)
    (only,) = replay(group(7, alone))
    assert only.owned_from == CLAIMS
    assert owned(only) == {"a": {"t": [5]}}
    assert only.members is not None
    assert only.members["a"].generation == 6
    assert only.members["a"].joined is None
    assert (only.left, only.resubscribed) == (None, None)


def test_a_gap_in_the_numbers_leaves_the_claims() -> None:
    _, second = replay(
        group(1, member("a", T, {"t": [0]})),
        group(3, member("a", T, {"t": [0]}, owns={"t": [1]}, generation=1)),
    )
    assert second.owned_from == CLAIMS
    assert owned(second) == {"a": {"t": [1]}}


def test_a_static_member_that_returns_is_no_rebalance() -> None:
    cases = replay(
        group(1, member("s-1", T, {"t": [0]}, instance_id="s"), member("b", T, {})),
        group(1, member("s-2", T, {"t": [0]}, instance_id="s"), member("b", T, {})),
        group(2, member("s-2", T, {"t": [0]}, instance_id="s"), member("c", T, {})),
    )
    assert [case.generation for case in cases] == [1, 2]
    assert owned(cases[1]) == {"s-2": {"t": [0]}}
    assert cases[1].owned_from == PREVIOUS
    assert cases[1].left == 1


def test_a_static_member_owns_under_a_new_id() -> None:
    _, second = replay(
        group(1, member("s-1", T, {"t": [0]}, instance_id="s")),
        group(2, member("s-2", T, {"t": [0]}, instance_id="s"), member("b", T, {})),
    )
    assert owned(second) == {"s-2": {"t": [0]}}
    assert second.members is not None
    assert second.members["s-2"].joined is False


def test_nobody_owns_after_the_group_was_empty() -> None:
    cases = replay(
        group(1, member("a", T, {"t": [0]})),
        group(2),
        group(3, member("a", T, {"t": [0]}, owns={"t": [0]}, generation=1)),
    )
    assert [case.generation for case in cases] == [1, 3]
    assert owned(cases[1]) == {}
    assert cases[1].owned_from == PREVIOUS


def test_a_deleted_group_begins_anew() -> None:
    history = GroupHistory(GROUP)
    place = Place(source="s", partition=0, offset=0, at=None)
    list(history.metadata(group(9, member("a", T, {"t": [0]})), place))
    list(history.delete(GroupTombstone(group_id=GROUP)))
    (case,) = history.metadata(group(1, member("a", T, {"t": [0]})), place)
    assert owned(case) == {}
    assert case.owned_from == PREVIOUS


def test_an_unreadable_generation_leaves_the_claims_to_the_next() -> None:
    history = GroupHistory(GROUP)
    place = Place(source="s", partition=0, offset=0, at=None)
    list(history.metadata(group(1, member("a", T, {"t": [0]})), place))
    broken = member("a", T, {"t": [0]})._replace(subscription=b"\x00\x03")
    with pytest.raises(WireError, match="member 'a'"):
        list(history.metadata(group(2, broken), place))
    (case,) = history.metadata(group(3, member("a", T, {"t": [0]})), place)
    assert case.owned_from == CLAIMS


@pytest.mark.parametrize("instance_id", [None, "s"])
def test_a_member_listed_twice_is_refused(instance_id: str | None) -> None:
    history = GroupHistory(GROUP)
    place = Place(source="s", partition=0, offset=0, at=None)
    twice = member("a", T, {}, instance_id=instance_id)
    other = twice._replace(member_id="b") if instance_id else twice
    with pytest.raises(WireError, match="listed twice"):
        list(history.metadata(group(1, twice, other), place))


def test_a_negative_partition_is_refused() -> None:
    history = GroupHistory(GROUP)
    place = Place(source="s", partition=0, offset=0, at=None)
    with pytest.raises(WireError, match="partition -1"):
        list(history.metadata(group(1, member("a", T, {"t": [-1]})), place))


# Members that say otherwise.


def test_a_sticky_member_that_never_heard_of_its_assignment() -> None:
    """Java's consumer drops an assignment that does not match its subscription."""
    _, second = replay(
        group(
            1,
            member("a", T, {"t": [0]}, sticky=True, owns={}),
            member("b", T, {"t": [1]}, sticky=True, owns={}),
            assignor="sticky",
        ),
        group(
            2,
            member("a", T, {"t": [0]}, sticky=True, owns={"t": [0]}, generation=1),
            member("b", T, {"t": [1]}, sticky=True, owns={"t": [2]}, generation=0),
            assignor="sticky",
        ),
    )
    assert second.owned_from == CLAIMS
    assert second.claims_disagree == 1
    assert owned(second) == {"a": {"t": [0]}, "b": {"t": [2]}}
    assert second.members is not None
    assert [m.generation for m in second.members.values()] == [1, 0]


def test_a_claim_on_a_topic_given_up_is_no_disagreement() -> None:
    _, second = replay(
        group(1, member("a", ["t", "u"], {"t": [0], "u": [0]}), assignor="sticky"),
        group(
            2,
            member("a", ["u"], {"u": [0]}, sticky=True, owns={"u": [0]}, generation=1),
            assignor="sticky",
        ),
    )
    assert second.owned_from == PREVIOUS
    assert second.claims_disagree == 0


def test_claims_of_an_eager_assignor_without_user_data_are_not_compared() -> None:
    _, second = replay(
        group(1, member("a", T, {"t": [0]})), group(2, member("a", T, {"t": [0]}))
    )
    assert second.owned_from == PREVIOUS
    assert second.claims_disagree is None


def coop(
    name: str, assigned: list[int], owns: list[int] | None, generation: int
) -> GroupMember:
    claim = {"t": owns} if owns else {}
    given = {"t": assigned} if assigned else {}
    return member(name, T, given, owns=claim, generation=generation)


def test_a_cooperative_member_owns_its_claim() -> None:
    _, second = replay(
        group(1, coop("a", [0, 1], None, -1), coop("b", [2], None, -1), assignor=COOP),
        group(2, coop("a", [0], [0], 1), coop("b", [2], [2], 1), assignor=COOP),
    )
    assert second.cooperative
    assert second.owned_from == CLAIMS
    assert owned(second) == {"a": {"t": [0]}, "b": {"t": [2]}}


def test_a_cooperative_group_that_reports_nothing_runs_eager() -> None:
    """While ``range`` is still among its assignors a consumer revokes all (KIP-429)."""
    _, second = replay(
        group(1, coop("a", [0, 1], None, -1), coop("b", [2], None, -1), assignor=COOP),
        group(2, coop("a", [2], None, 1), coop("b", [0, 1], None, 1), assignor=COOP),
    )
    assert not second.cooperative
    assert second.owned_from == PREVIOUS
    assert owned(second) == {"a": {"t": [0, 1]}, "b": {"t": [2]}}


def test_bug_members_that_missed_the_generation_before_are_not_eager() -> None:
    """A group that left the new protocol early: nobody had what it took along."""
    _, second = replay(
        group(3, coop("a", [0, 1], None, -1), coop("b", [2], None, -1), assignor=COOP),
        group(4, coop("a", [2], None, 1), coop("b", [0, 1], None, 1), assignor=COOP),
    )
    assert second.cooperative
    assert second.owned_from == CLAIMS
    assert owned(second) == {}


def test_a_static_member_back_in_a_cooperative_group_holds_nothing() -> None:
    _, second = replay(
        group(
            1,
            member("s-1", T, {"t": [0]}, instance_id="s"),
            coop("b", [1], None, -1),
            assignor=COOP,
        ),
        group(
            2,
            member("s-2", T, {}, instance_id="s"),
            coop("b", [0, 1], [1], 1),
            assignor=COOP,
        ),
    )
    assert second.cooperative
    assert second.owned_from == CLAIMS
    assert owned(second) == {"b": {"t": [1]}}


def test_a_new_cooperative_group_is_one() -> None:
    (case,) = replay(group(0), group(1, coop("a", [0], None, -1), assignor=COOP))
    assert case.cooperative


# Episodes.


def test_an_eager_rebalance_is_an_episode() -> None:
    (case,) = replay(group(1, member("a", T, {"t": [0]})))
    assert case.episode is not None
    assert case.episode.rounds == 1
    assert case.episode.ended == REST
    assert case.episode.before is None
    assert case.episode.unowned_partition_ms is None
    assert (case.episode_id, case.round) == (case.rebalance_id, 1)


TWO_ROUNDS = (
    group(1, coop("a", [0, 1, 2, 3], None, -1), assignor=COOP),
    group(
        2, coop("a", [0, 1], [0, 1, 2, 3], 1), coop("b", [], None, -1), assignor=COOP
    ),
    group(3, coop("a", [0, 1], [0, 1], 2), coop("b", [2, 3], None, 2), assignor=COOP),
)


def test_two_rounds_are_one_episode() -> None:
    first, second, third = replay(*TWO_ROUNDS)
    assert first.episode is not None
    assert first.episode.rounds == 1
    assert first.episode.unowned_partition_ms == 0
    assert second.episode is None
    assert third.episode is not None
    assert (second.round, third.round) == (1, 2)
    assert second.episode_id == third.episode_id == second.rebalance_id
    episode = third.episode
    assert (episode.rounds, episode.first_generation, episode.ended) == (2, 2, REST)
    assert episode.withheld == 2
    assert episode.unowned_partition_ms == 2 * 1000
    assert episode.before == {"a": {"t": [0, 1, 2, 3]}}


def test_what_waits_for_a_member_that_left_the_topic_is_withheld() -> None:
    """As the judge of a round counts it; a topic without a subscriber has none."""
    left = member("a", ["u"], {"u": [0]})
    first = group(1, coop("a", [0, 1], None, -1), assignor=COOP)
    waits = group(2, left, coop("b", [], None, -1), assignor=COOP)
    *_, second, third = replay(first, waits, group(3, left, coop("b", [0, 1], None, 2)))
    assert second.episode is None
    assert third.episode is not None
    assert (third.episode.rounds, third.episode.withheld) == (2, 2)
    *_, alone = replay(first, group(2, left, assignor=COOP))
    assert alone.episode is not None
    assert alone.episode.withheld == 0


def test_an_episode_follows_members_that_come_and_go() -> None:
    cases = replay(
        *TWO_ROUNDS[:2],
        group(
            3,
            coop("a", [0, 1], [0, 1], 2),
            coop("c", [2, 3], None, -1),
            assignor=COOP,
        ),
    )
    episode = cases[-1].episode
    assert episode is not None
    assert (episode.rounds, episode.ended) == (2, REST)
    assert episode.before == {"a": {"t": [0, 1, 2, 3]}}


@pytest.mark.parametrize("after", [(), (group(3),)], ids=["ended", "emptied"])
def test_an_episode_without_an_end_is_open(after: tuple[GroupMetadata, ...]) -> None:
    cases = replay(*TWO_ROUNDS[:2], *after)
    episode = cases[-1].episode
    assert episode is not None
    assert episode.ended == OPEN
    assert episode.withheld == 2
    assert episode.unowned_partition_ms == 0


def test_what_was_owned_at_rest_follows_a_static_member() -> None:
    cases = replay(
        group(
            1,
            member("s-1", T, {"t": [0, 1]}, instance_id="s"),
            coop("b", [2, 3], None, -1),
            assignor=COOP,
        ),
        group(
            2,
            member("s-1", T, {"t": [0]}, instance_id="s", owns={"t": [0, 1]}),
            coop("b", [2, 3], [2, 3], 1),
            assignor=COOP,
        ),
        group(
            3,
            member("s-2", T, {"t": [0]}, instance_id="s"),
            coop("b", [1, 2, 3], [2, 3], 2),
            assignor=COOP,
        ),
    )
    episode = cases[-1].episode
    assert episode is not None
    assert episode.before == {"s-2": {"t": [0, 1]}, "b": {"t": [2, 3]}}


# The rest of a case.


def test_offsets_are_those_committed_before() -> None:
    first, second = replay(
        commit("t", 1, 10),
        commit("t", 0, 5),
        commit("other", 0, 5),
        group(1, member("a", T, {"t": [0]})),
        commit("t", 1, 20),
        group(2, member("a", T, {"t": [0]})),
    )
    assert first.committed == {"t": [(0, 5), (1, 10)]}
    assert second.committed == {"t": [(0, 5), (1, 20)]}


def test_a_case_survives_packing() -> None:
    for case in replay(*TWO_ROUNDS, commit("t", 0, 1)):
        again = unpack(pack(case))
        assert pack(again) == pack(case)
        assert replace(again, committed=case.committed) == case


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (group(1, member("a", T, {})), None),
        (group(1, protocol_type=""), None),
        (group(1, protocol_type="connect"), "protocol type connect"),
        (group(1, member("a", T, {}), protocol_type=""), "protocol type none"),
        (group(1, member("a", T, {}), assignor="stream"), "Kafka Streams"),
    ],
)
def test_other_kinds_of_groups(record: GroupMetadata, reason: str | None) -> None:
    said = why_not_judged(record)
    assert said is None if reason is None else reason in (said or "")
