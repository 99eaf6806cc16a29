"""A member that misses a rebalance loses its partitions, and does not commit."""

from __future__ import annotations

import pytest

from heuristics.group import Configuration, Group, Phase
from tests.heuristics.group.fleets import (
    COOPERATIVE_STICKY,
    DEFAULT,
    OLD,
    assert_at_rest,
    group_of,
    happen,
    wanting,
)

STATIC = wanting(COOPERATIVE_STICKY, instance_id="s1")


def without_c1(group: Group) -> None:
    """Add c2; c1 does not hear of it until the rebalance times out."""
    group.start("c2", group.processes["c0-1"].configuration)
    happen(group, "JOIN c2-1", "HEARTBEAT c0-1", "JOIN c0-1")
    happen(group, "REBALANCE_TIMEOUT")
    for process in ("c0-1", "c2-1"):
        happen(group, f"RECEIVE {process}")
    leader = group.coordinator.leader or ""
    first = leader.rpartition(".")[0]
    for process in sorted(("c0-1", "c2-1"), key=lambda p: p != first):
        happen(group, f"SYNC {process}")


@pytest.mark.parametrize("configuration", [DEFAULT, OLD])
def test_a_straggler_may_not_commit_until_it_rejoined(
    configuration: Configuration,
) -> None:
    group = group_of(configuration, configuration)
    straggler = group.processes["c1-1"]
    held = straggler.held
    assert group.may_commit("c1-1")
    without_c1(group)
    assert straggler.phase is Phase.STABLE  # it does not know yet
    assert straggler.held == held
    assert not group.may_commit("c1-1")
    happen(group, "HEARTBEAT c1-1", "JOIN c1-1")
    assert straggler.held == frozenset()
    assert straggler.lost == len(held)
    assert not group.may_commit("c1-1")
    group.settle()
    assert group.may_commit("c1-1")
    assert_at_rest(group)


def test_a_static_straggler_stays_a_member_and_loses_all_the_same() -> None:
    group = group_of(DEFAULT, STATIC)
    straggler = group.processes["c1-1"]
    held = straggler.held
    without_c1(group)
    assert straggler.member_id in group.coordinator.members
    assert not group.may_commit("c1-1")
    happen(group, "HEARTBEAT c1-1", "JOIN c1-1")
    assert straggler.lost == len(held)
    group.settle()
    assert_at_rest(group)


def test_an_answer_lost_on_the_way_is_no_missed_rebalance() -> None:
    group = group_of(DEFAULT, DEFAULT)
    kept = group.processes["c1-1"].held
    group.start("c2", DEFAULT)
    happen(group, "JOIN c2-1")
    for process in ("c0-1", "c1-1"):
        happen(group, f"HEARTBEAT {process}", f"JOIN {process}")
    happen(group, "LOSE_JOIN c1-1", "JOIN c1-1")
    group.settle()
    assert group.processes["c1-1"].lost == 0
    assert group.processes["c1-1"].held <= kept
    assert_at_rest(group)


def test_who_never_syncs_is_dropped() -> None:
    group = group_of(DEFAULT)
    group.start("c1", DEFAULT)
    happen(group, "JOIN c1-1", "HEARTBEAT c0-1", "JOIN c0-1")
    happen(group, "RECEIVE c0-1", "SYNC c0-1")
    happen(group, "SYNC_TIMEOUT")
    assert group.coordinator.members == ("c0-1.1",)
    group.settle()
    assert_at_rest(group)
