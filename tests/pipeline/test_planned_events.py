"""The recording of planned events agrees with its driver's log."""

from __future__ import annotations

from pathlib import Path

import pytest

from studies.recording.planned_events import PLANNED
from studies.recording.record_events import record_events
from tests.pipeline.planned_acts import (
    EVENTS,
    check_acts,
    planned_acts,
    planned_rebalances,
    unanswered,
)

REBALANCES = {
    "cooperative-upgrade": 15,
    "crash-loop": 19,
    "dead-consumer": 2,
    "new-protocol": 5,
    "quiet": 1,
    "resubscription": 3,
    "rolling-restart": 9,
    "slow-consumer": 7,
    "staggered-start": 5,
    "static-return": 3,
    "topic-growth": 4,
}


def test_every_group_acts_and_has_its_number_of_rebalances() -> None:
    found = planned_rebalances(EVENTS)
    assert found.keys() == PLANNED.keys()
    assert {group: len(each) for group, each in found.items()} == REBALANCES


@pytest.mark.parametrize("group", PLANNED)
def test_every_act_that_must_cause_a_rebalance_has_one_in_time(group: str) -> None:
    left_last = 3 if group == "staggered-start" else 0
    assert unanswered(EVENTS, group) == ["leave"] * left_last


@pytest.mark.parametrize("group", PLANNED)
def test_every_rebalance_has_an_act_or_continues_one(group: str) -> None:
    check_acts(planned_rebalances(EVENTS)[group])


@pytest.mark.parametrize("group", PLANNED)
def test_members_that_joined_left_and_resubscribed_are_those_of_the_log(
    group: str,
) -> None:
    for rebalance in planned_rebalances(EVENTS)[group]:
        case = rebalance.case
        joined = {name for name, member in rebalance.members.items() if member.joined}
        assert joined == rebalance.clients("start", "resume")
        gone = rebalance.clients("leave", "kill", "pause")
        assert case.left == len(gone)
        assert case.resubscribed == len(rebalance.clients("subscribe"))


@pytest.mark.parametrize("group", PLANNED)
def test_the_assignor_is_the_first_that_all_members_of_the_log_have(group: str) -> None:
    for rebalance in planned_rebalances(EVENTS)[group]:
        assert rebalance.case.client_assignor == (rebalance.assignor or "uniform")


def test_static_members_return_within_their_session_without_a_rebalance() -> None:
    """One was closed and one was killed; a third one returns too late."""
    acts = planned_acts(EVENTS)["static-return"]
    events = [(act.event, act.client, act.due is None) for act in acts[3:]]
    assert events == [
        ("leave", "static-return-1", True),
        ("start", "static-return-1", True),
        ("kill", "static-return-0", True),
        ("start", "static-return-0", True),
        ("kill", "static-return-2", False),
        ("start", "static-return-2", False),
    ]
    first, *later = planned_rebalances(EVENTS)["static-return"]
    assert first.at < acts[3].ms
    assert all(each.at > acts[7].ms for each in later)


def test_a_crash_within_the_session_is_one_rebalance_and_one_after_it_two() -> None:
    first, *crashes = planned_rebalances(EVENTS)["crash-loop"]
    assert first.clients("start") == {f"crash-loop-{n}" for n in range(3)}
    events = [tuple(act.event for act in each.acts) for each in crashes]
    assert events == [("kill", "start")] * 10 + [("kill",), ("start",)] * 4
    assert all(each.clients("kill", "start") == {"crash-loop-2"} for each in crashes)


def test_partitions_of_a_dead_consumer_wait_until_its_session_times_out() -> None:
    acts = planned_acts(EVENTS)["dead-consumer"]
    (kill,) = (act for act in acts if act.event == "kill")
    first, second = planned_rebalances(EVENTS)["dead-consumer"]
    assert first.members[kill.client].assigned
    assert second.at - kill.ms > 40_000


def test_the_topic_grows_in_the_generations_after_the_acts() -> None:
    rebalances = planned_rebalances(EVENTS)["topic-growth"]
    assert [rebalance.partitions for rebalance in rebalances] == [6, 9, 12, 12]


@pytest.mark.nightly(minutes=2)
def test_a_new_recording_agrees_with_its_log(tmp_path: Path) -> None:
    groups = ("new-protocol", "resubscription", "static-return", "topic-growth")
    assert record_events(tmp_path, groups=groups) > 100
    for group in groups:
        assert unanswered(tmp_path, group) == []
        check_acts(planned_rebalances(tmp_path)[group])
