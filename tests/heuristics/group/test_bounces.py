"""Rolling restarts: one suffices with KIP-726, two are needed in releases."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heuristics.group import (
    Configuration,
    Event,
    EventKind,
    Group,
    GroupError,
    Phase,
    ProtocolChoice,
    RebalanceProtocol,
)
from tests.heuristics.group.fleets import (
    COOPERATIVE_STICKY,
    DEFAULT,
    DOWN,
    OLD,
    ONLY,
    RANGE,
    SHIPPED,
    TOPICS,
    alive,
    assert_at_rest,
    assert_safe,
    bounce,
    group_of,
    happen,
    wanting,
)
from tests.support.examples import costly

EAGER, COOPERATIVE = RebalanceProtocol.EAGER, RebalanceProtocol.COOPERATIVE
NEW = "cooperative-sticky"
SHIPPED_UP = wanting(COOPERATIVE_STICKY, RANGE, choice=ProtocolChoice.STATIC)


def protocols(group: Group) -> set[RebalanceProtocol]:
    return {group.processes[process].protocol for process in alive(group)}


def roll(group: Group, configuration: Configuration) -> list[str]:
    """Bounce one member after another; return the assignor at each stable state."""
    picked = []
    for name in "012":
        bounce(group, f"c{name}", configuration)
        group.settle()
        assert_at_rest(group)
        picked.append(group.coordinator.strategy or "")
    return picked


@pytest.mark.parametrize(
    ("first", "bounces", "picked", "protocol"),
    [
        (OLD, [DEFAULT], ["range", "range", NEW], COOPERATIVE),
        (DEFAULT, [OLD], ["range", "range", "range"], EAGER),
        (OLD, [SHIPPED, ONLY], [NEW, NEW, NEW], COOPERATIVE),
        (ONLY, [SHIPPED, OLD], ["range", "range", "range"], EAGER),
        # As shipped, one bounce leaves the group eager.
        (OLD, [SHIPPED_UP], ["range", "range", NEW], EAGER),
    ],
)
def test_rolling_bounces(
    first: Configuration,
    bounces: list[Configuration],
    picked: list[str],
    protocol: RebalanceProtocol,
) -> None:
    group = group_of(first, first, first)
    *_, last = [roll(group, configuration) for configuration in bounces]
    assert last == picked
    assert protocols(group) == {protocol}


def test_a_downgrade_loses_held_partitions() -> None:
    group = group_of(DEFAULT, DEFAULT)
    group.start("c2", OLD)
    group.settle()
    assert_at_rest(group)
    assert sum(member.lost for member in group.processes.values()) == 5
    assert protocols(group) == {EAGER}


def test_without_the_first_bounce_no_new_member_is_admitted() -> None:
    group = group_of(OLD, OLD)
    bounced = bounce(group, "c1", ONLY)
    group.settle()
    assert group.processes[bounced].phase is Phase.GONE
    assert_at_rest(group)


def test_sink_connectors_inherit_the_default() -> None:
    """A group that names no assignor goes up as its workers are upgraded (KIP-726)."""
    group = group_of(*[DEFAULT] * 4)
    assert protocols(group) == {COOPERATIVE}
    before = {process: group.processes[process].held for process in alive(group)}
    group.start("c4", DEFAULT)
    group.settle()
    for process, held in before.items():
        assert group.processes[process].held <= held


def test_preference_decides_when_all_have_both() -> None:
    assert group_of(DEFAULT, DOWN, DOWN).coordinator.strategy == "range"
    assert group_of(DEFAULT, DEFAULT, DOWN).coordinator.strategy == "cooperative-sticky"


def test_eager_revokes_all_before_joining_and_cooperative_nothing() -> None:
    for configuration, kept in ((OLD, 0), (DEFAULT, 5)):
        group = group_of(configuration)
        group.start("c1", configuration)
        happen(group, "JOIN c1-1", "HEARTBEAT c0-1")
        happen(group, "JOIN c0-1")
        assert len(group.processes["c0-1"].held) == kept


def test_what_is_in_transfer_is_withheld_until_revoked() -> None:
    group = group_of(DEFAULT)
    group.start("c1", DEFAULT)
    happen(group, "JOIN c1-1", "HEARTBEAT c0-1", "JOIN c0-1", "RECEIVE c1-1")
    happen(group, "RECEIVE c0-1", "SYNC c0-1", "SYNC c1-1")
    giver, taker = group.processes["c0-1"], group.processes["c1-1"]
    assert taker.held == frozenset()
    assert len(giver.revoking) == 2
    in_transfer = giver.revoking
    generation = group.coordinator.generation
    happen(group, "REVOKED c0-1", "JOIN c0-1")  # the follow-up
    group.settle()
    assert taker.held == in_transfer
    assert group.coordinator.generation == generation + 1


UPWARD = st.permutations(["c0", "c1", "c2", "c3"])


@costly()
@given(UPWARD, st.data())
def test_a_bounce_in_any_order_ends_at_rest(
    names: list[str], data: st.DataObject
) -> None:
    """The next process may be bounced before the group is at rest."""
    up = data.draw(st.booleans())
    first, then = (OLD, DEFAULT) if up else (DEFAULT, OLD)
    group = group_of(*[first] * len(names))
    for name in names:
        bounce(group, name, then)
        for _ in range(data.draw(st.integers(0, 12))):
            if events := group.events():
                group.apply(data.draw(st.sampled_from(events)))
                assert_safe(group)
    group.settle()
    assert_at_rest(group)
    assert protocols(group) == {COOPERATIVE if up else EAGER}


def test_what_cannot_happen_is_refused() -> None:
    with pytest.raises(GroupError, match="cannot happen"):
        Group(TOPICS).apply(Event(EventKind.SYNC, "c0-1"))
    with pytest.raises(GroupError, match="no such process"):
        Group(TOPICS).crash("c0-1")
