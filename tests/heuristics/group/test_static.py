"""Static members (KIP-345) return without a rebalance; instance ids are unique."""

from __future__ import annotations

import pytest

from heuristics.group import Phase
from tests.heuristics.group.fleets import (
    COOPERATIVE_STICKY,
    DEFAULT,
    OLD,
    RANGE,
    assert_at_rest,
    bounce,
    group_of,
    happen,
    wanting,
)

STATIC = wanting(COOPERATIVE_STICKY, RANGE, instance_id="s1")


def test_a_static_member_returns_to_its_partitions() -> None:
    group = group_of(DEFAULT, STATIC, DEFAULT)
    generation, moves = group.coordinator.generation, group.history.moves
    held = group.processes["c1-1"].held
    again = bounce(group, "c1", STATIC)
    group.settle()
    assert group.processes[again].held == held
    assert (group.coordinator.generation, group.history.moves) == (generation, moves)
    assert_at_rest(group)


def test_a_static_bounce_that_changes_the_assignor_rebalances() -> None:
    group = group_of(DEFAULT, STATIC, DEFAULT)
    bounce(group, "c1", wanting(RANGE, instance_id="s1"))
    group.settle()
    assert group.coordinator.strategy == "range"
    assert_at_rest(group)


def test_a_static_member_that_stays_away_is_dropped_when_its_session_ends() -> None:
    group = group_of(OLD, wanting(RANGE, instance_id="s1"))
    group.leave("c1-1")
    assert len(group.coordinator.members) == 2
    group.settle()
    assert list(group.coordinator.members) == ["c0-1.1"]
    assert_at_rest(group)


def test_the_older_of_two_processes_of_one_instance_is_fenced() -> None:
    group = group_of(DEFAULT, STATIC)
    group.start("c1", STATIC)
    happen(group, "JOIN c1-2")
    assert not group.may_commit("c1-1")
    assert group.processes["c1-1"].held
    happen(group, "HEARTBEAT c1-1")
    assert group.processes["c1-1"].phase is Phase.GONE
    group.settle()
    assert_at_rest(group)


@pytest.mark.parametrize("instance_id", ["s0", None])
def test_a_static_leader_that_dies_while_it_revokes_leaves_nothing_behind(
    instance_id: str | None,
) -> None:
    group = group_of(wanting(COOPERATIVE_STICKY, instance_id="s0"))
    group.start("c1", wanting(COOPERATIVE_STICKY, instance_id=instance_id and "s1"))
    while not group.processes["c0-1"].revoking:
        group.apply(group.events()[0])
    group.crash("c0-1")
    group.start("c0", wanting(COOPERATIVE_STICKY, instance_id="s0"))
    group.settle()
    assert_at_rest(group)
