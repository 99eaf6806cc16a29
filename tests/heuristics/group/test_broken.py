"""Without any one safeguard, some invariant is violated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from heuristics.group import Group, Safeguards
from tests.heuristics.group.fleets import (
    COOPERATIVE_RANGE,
    DEFAULT,
    OLD,
    SAFE,
    TOPICS,
    assert_at_rest,
    group_of,
    happen,
    wanting,
)


def without_withholding(safeguards: Safeguards) -> None:
    """c1 is given what c0 has yet to revoke."""
    group = group_of(DEFAULT, safeguards=safeguards)
    group.start("c1", DEFAULT)
    happen(group, "JOIN c1-1", "HEARTBEAT c0-1", "JOIN c0-1")
    happen(group, "RECEIVE c0-1", "RECEIVE c1-1")
    happen(group, "SYNC c0-1", "SYNC c1-1")


def going_down_with_partitions(safeguards: Safeguards) -> None:
    """Range gives c1 what c0 still holds; c0 would commit it as it revokes."""
    group = group_of(DEFAULT, safeguards=safeguards)
    group.start("c1", OLD)
    happen(group, "JOIN c1-1", "HEARTBEAT c0-1", "JOIN c0-1")
    happen(group, "RECEIVE c0-1", "RECEIVE c1-1")
    happen(group, "SYNC c0-1", "SYNC c1-1")


def back_before_any_error(safeguards: Safeguards) -> None:
    """A static member misses a generation and joins before a heartbeat tells it.

    What it said when it joined last is what it held then: nothing. So its partitions
    were given away, and by its next SyncGroup it revokes them, with a commit.
    """
    group = Group(TOPICS, safeguards=safeguards)
    group.start("c0", wanting(COOPERATIVE_RANGE))
    group.start("c1", wanting(COOPERATIVE_RANGE, instance_id="s1"))
    happen(group, "JOIN c0-1", "JOIN c1-1", "RECEIVE c0-1")
    happen(group, "SYNC c0-1", "JOIN c0-1")
    group.settle()
    group.start("c2", wanting(COOPERATIVE_RANGE, instance_id="s0"))
    happen(group, "JOIN c2-1", "HEARTBEAT c0-1", "JOIN c0-1")
    happen(group, "REBALANCE_TIMEOUT")
    happen(group, "RECEIVE c0-1", "RECEIVE c2-1")
    happen(group, "SYNC c0-1", "SYNC c2-1", "REVOKED c0-1")
    assert group.processes["c1-1"].held == group.processes["c2-1"].held
    group.enforce_rebalance("c1-1")
    happen(group, "JOIN c0-1", "HEARTBEAT c2-1", "JOIN c2-1")
    happen(group, "JOIN c1-1")
    for process in ("c0-1", "c1-1", "c2-1"):
        happen(group, f"RECEIVE {process}")
    happen(group, "SYNC c0-1", "SYNC c2-1", "SYNC c1-1")


def stragglers_that_commit(safeguards: Safeguards) -> None:
    """c1's partitions are assigned to others before it notices."""
    group = group_of(OLD, OLD, safeguards=safeguards)
    happen(group, "SESSION_TIMEOUT c1-1.1")
    happen(group, "HEARTBEAT c0-1", "JOIN c0-1")
    happen(group, "RECEIVE c0-1", "SYNC c0-1")


def nobody_follows_up(safeguards: Safeguards) -> None:
    """A static follower, who alone is to revoke, dies and starts again.

    Range puts static members first, by instance id: s0 takes s1's one partition.
    """
    only = frozenset("u")
    leader = wanting(COOPERATIVE_RANGE, topics=only)
    static = [
        wanting(COOPERATIVE_RANGE, topics=only, instance_id=f"s{i}") for i in range(2)
    ]
    group = group_of(leader, static[1], safeguards=safeguards)
    group.start("c2", static[0])
    while not group.processes["c1-1"].revoking:
        group.apply(group.events()[0])
    group.crash("c1-1")
    group.start("c1", static[1])
    group.settle()
    assert_at_rest(group)


def back_for_other_topics(safeguards: Safeguards) -> None:
    """A static member's next process wants what nobody else does (KAFKA-12759)."""
    static = wanting(COOPERATIVE_RANGE, instance_id="s1", topics=frozenset("t"))
    dynamic = wanting(COOPERATIVE_RANGE, topics=frozenset("t"))
    group = group_of(dynamic, static, safeguards=safeguards)
    group.leave("c1-1")
    group.start("c1", replace(static, topics=frozenset("tu")))
    group.settle()
    assert_at_rest(group)


BREAKS: list[tuple[str, Callable[[Safeguards], None]]] = [
    ("withholds", without_withholding),
    ("loses_to_eager", going_down_with_partitions),
    ("loses_when_missed", back_before_any_error),
    ("fences", stragglers_that_commit),
    ("leader_follows_up", nobody_follows_up),
    ("heeds_new_topics", back_for_other_topics),
]


@pytest.mark.parametrize(("safeguard", "history"), BREAKS)
def test_a_history_is_safe_and_would_not_be(
    safeguard: str, history: Callable[[Safeguards], None]
) -> None:
    history(SAFE)
    with pytest.raises(AssertionError):
        history(Safeguards(**{safeguard: False}))
