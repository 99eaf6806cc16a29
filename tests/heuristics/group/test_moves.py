"""Moves of histories compared with the fewest possible between stable states."""

from __future__ import annotations

import pytest

from heuristics.group import Configuration, Group, least_moves
from tests.heuristics.group.fleets import (
    DEFAULT,
    OLD,
    alive,
    assert_at_rest,
    bounce,
    group_of,
)


def identities(group: Group) -> set[str]:
    return {group.processes[process].identity for process in alive(group)}


def settled(group: Group, *, evens: bool) -> tuple[int, int]:
    """Let the group rest; count its moves since the last rest, and the least."""
    owners, moves = dict(group.history.last_owner), group.history.moves
    group.settle()
    assert_at_rest(group)
    least = least_moves(owners, identities(group), evens=evens)
    return group.history.moves - moves, least


def test_the_least_moves_count_departed_members_and_excess_load() -> None:
    owners = {("t", n): "aab"[n % 3] for n in range(6)}
    assert least_moves(owners, {"a", "b"}, evens=False) == 0
    assert least_moves(owners, {"a", "b"}, evens=True) == 1
    assert least_moves(owners, {"b", "c"}, evens=False) == 4
    assert least_moves(owners, {"a", "b", "c"}, evens=True) == 2
    assert least_moves(owners, set(), evens=True) == 0


def test_cooperative_sticky_moves_the_least_when_one_joins_leaves_or_crashes() -> None:
    group = group_of(DEFAULT, DEFAULT)
    group.start("c2", DEFAULT)
    assert settled(group, evens=True) == (1, 1)
    group.leave("c0-1")
    moves, least = settled(group, evens=True)
    assert moves == least == 2
    group.crash("c1-1")
    moves, least = settled(group, evens=True)
    assert moves == least > 0


@pytest.mark.parametrize(("first", "then"), [(OLD, DEFAULT), (DEFAULT, OLD)])
def test_a_rolling_bounce_moves_at_least_each_members_partitions(
    first: Configuration, then: Configuration
) -> None:
    group = group_of(first, first, first)
    start, least = group.history.moves, 0
    for name in ("c0", "c1", "c2"):
        bounce(group, name, then)
        least += settled(group, evens=False)[1]
    assert group.history.moves - start >= least > 0
