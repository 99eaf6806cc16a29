"""Random histories: always safe, and stable after a bounded number of steps."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import Phase as Stage
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from heuristics.group import Configuration, Event, Group, Phase, Safeguards
from tests.heuristics.group.fleets import (
    COOPERATIVE_RANGE,
    DEFAULT,
    DOWN,
    MIXED,
    OLD,
    ONLY,
    RANGE,
    SAFE,
    SHIPPED,
    TOPICS,
    alive,
    assert_at_rest,
    assert_safe,
    likely,
    wanting,
)
from tests.support.amount import FIRST_SEED, INSTANCES

NAMES = st.sampled_from(["c0", "c1", "c2", "c3"])
FLEET = (OLD, DEFAULT, SHIPPED, DOWN, ONLY, MIXED)
FIXED = settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=400,
    stateful_step_count=50,
    # One example suffices: shrinking takes minutes.
    phases=(Stage.generate,),
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)


def most_generations(group: Group) -> int:
    """Bound what may still happen by itself, in generations.

    Each process may join once, revoke once and time out once, and each may cost a
    generation; then one to give what was withheld and one if the leader asks for it.
    """
    return 3 * (len(alive(group)) + len(group.coordinator.members)) + 2


class GroupMachine(RuleBasedStateMachine):
    """A group whose every step hypothesis chooses."""

    safeguards = SAFE
    pool: tuple[Configuration, ...] = FLEET
    topics = TOPICS
    more_generations = 0  # until a leader requests another rebalance

    def __init__(self) -> None:
        super().__init__()
        self.group = Group(self.topics, safeguards=self.safeguards)
        for i in range(3):
            self.group.start(f"c{i}", self.pool[i % len(self.pool)])

    def _configured(
        self, data: st.DataObject, instance_id: str | None
    ) -> Configuration:
        return replace(data.draw(st.sampled_from(self.pool)), instance_id=instance_id)

    @precondition(lambda self: len(alive(self.group)) < 5)
    @rule(name=NAMES, static=st.booleans(), data=st.data())
    def start(self, name: str, static: bool, data: st.DataObject) -> None:
        instance_id = f"s-{name}" if static else None
        self.group.start(name, self._configured(data, instance_id))

    @precondition(lambda self: bool(alive(self.group)))
    @rule(data=st.data(), crash=st.booleans())
    def bounce(self, data: st.DataObject, crash: bool) -> None:
        process = data.draw(st.sampled_from(alive(self.group)))
        kept = self.group.processes[process].configuration.instance_id
        (self.group.crash if crash else self.group.leave)(process)
        configuration = self._configured(data, kept)
        self.group.start(process.rpartition("-")[0], configuration)

    @precondition(lambda self: bool(alive(self.group)))
    @rule(data=st.data())
    def crash(self, data: st.DataObject) -> None:
        self.group.crash(data.draw(st.sampled_from(alive(self.group))))

    @precondition(lambda self: bool(alive(self.group)))
    @rule(data=st.data())
    def enforce_rebalance(self, data: st.DataObject) -> None:
        self.group.enforce_rebalance(data.draw(st.sampled_from(alive(self.group))))

    @precondition(lambda self: bool(self.group.events()))
    @rule(picks=st.lists(st.integers(0, 7), min_size=1, max_size=12))
    def go_on(self, picks: list[int]) -> None:
        for pick in picks:
            if events := likely(self.group, rare=False):
                self._apply(events[pick % len(events)])

    @precondition(lambda self: bool(self.group.events(faults=True)))
    @rule(data=st.data())
    def go_wrong(self, data: st.DataObject) -> None:
        self._apply(data.draw(st.sampled_from(self.group.events(faults=True))))

    def _apply(self, event: Event) -> None:
        self.group.apply(event)
        assert_safe(self.group)

    @rule()
    def rest(self) -> None:
        before = self.group.coordinator.generation
        most = most_generations(self.group) + self.more_generations
        while events := self.group.events():
            self._apply(events[0])
            assert self.group.coordinator.generation - before <= most
        assert_at_rest(self.group)
        self.rested()

    def rested(self) -> None:
        """Check more, in some machines."""

    @invariant()
    def safe(self) -> None:
        assert_safe(self.group)

    @invariant()
    def nothing_is_revoked_but_by_the_stable(self) -> None:
        for member in self.group.processes.values():
            assert not member.revoking or member.phase is Phase.STABLE
            assert member.revoking <= member.held

    def teardown(self) -> None:
        self.rest()


class CooperativeRange(GroupMachine):
    """Everything moves at every change: range is not sticky."""

    pool = (MIXED, wanting(COOPERATIVE_RANGE), wanting(RANGE, COOPERATIVE_RANGE))


TestGroup = GroupMachine.TestCase
TestGroup.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
TestCooperativeRange = CooperativeRange.TestCase
TestCooperativeRange.settings = TestGroup.settings


@pytest.mark.parametrize("safeguard", ["withholds", "fences"])
def test_the_machine_finds_the_fault_of_a_missing_safeguard(
    safeguard: str,
) -> None:
    class Broken(CooperativeRange):
        safeguards = Safeguards(**{safeguard: False})

    with pytest.raises(AssertionError, match="has"):
        run_state_machine_as_test(Broken, settings=FIXED)


@pytest.mark.heavy
def test_the_machine_at_length() -> None:
    """Every night draws anew."""
    at_length = settings(
        FIXED, derandomize=FIRST_SEED == 0, max_examples=min(INSTANCES // 80, 400)
    )
    for machine in (GroupMachine, CooperativeRange):
        run_state_machine_as_test(machine, settings=at_length)
