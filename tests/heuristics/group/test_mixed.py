"""Heterogeneous subscriptions with sticky's general path, EAGER and COOPERATIVE.

Stable states are KIP-54 balanced, so the least moves are those of the KIP-54 balanced
assignment that is closest to the stable state before.

Reaches into `heuristics` to compare the number of rounds with the most there may be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations, product
from random import Random

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test

from heuristics.cooperative_sticky import MOST_ROUNDS
from heuristics.group import (
    Configuration,
    Group,
    ProtocolChoice,
    RebalanceProtocol,
    Safeguards,
)
from heuristics.group.messages import Partition
from tests.heuristics.group.fleets import (
    GENERAL_STICKY,
    STICKY,
    alive,
    assert_at_rest,
    bounce,
    living,
    wanting,
)
from tests.heuristics.group.test_machine import FIXED, GroupMachine
from tests.support import last_drawn
from tests.support.amount import FIRST_SEED, INSTANCES

TOPICS = {"t": 3, "u": 1, "v": 1}
WANTED = tuple(
    frozenset(some)
    for size in range(1, len(TOPICS) + 1)
    for some in combinations(TOPICS, size)
)
EAGER = wanting(STICKY, choice=ProtocolChoice.STATIC)
COOPERATIVE = wanting(GENERAL_STICKY)
EITHER = wanting(GENERAL_STICKY, STICKY)
NAMES = ("c0", "c1", "c2", "c3")

Owners = Mapping[Partition, str]
Wants = Mapping[str, frozenset[str]]


def wants_of(group: Group) -> Wants:
    members = (group.processes[process] for process in alive(group))
    return {member.identity: member.configuration.topics for member in members}


def is_even(owners: Owners, wants: Wants) -> bool:
    """Whether no partition could go to a subscriber with two less."""
    held = list(owners.values())
    return all(
        held.count(owner) - held.count(other) <= 1
        for (topic, _), owner in owners.items()
        for other, topics in wants.items()
        if topic in topics
    )


def every_assignment(wants: Wants) -> Iterator[Owners]:
    partitions = [(topic, n) for topic, count in TOPICS.items() for n in range(count)]
    takers = {p: [m for m in wants if p[0] in wants[m]] for p in partitions}
    wanted = [p for p in partitions if takers[p]]
    for owners in product(*(takers[p] for p in wanted)):
        yield dict(zip(wanted, owners, strict=True))


def least_even_moves(before: Owners, wants: Wants) -> int:
    """Move as few as it takes to be even; who is not wanted any more does not move."""
    return min(
        sum(before.get(p, owner) != owner for p, owner in owners.items())
        for owners in every_assignment(wants)
        if is_even(owners, wants)
    )


def settled(group: Group) -> tuple[int, int]:
    """Let the group rest; count its moves since the last rest, and the least."""
    before, moves = dict(group.history.last_owner), group.history.moves
    group.settle()
    assert_at_rest(group)
    wants, owners = wants_of(group), owners_of(group)
    assert is_even(owners, wants)
    return group.history.moves - moves, least_even_moves(before, wants)


def owners_of(group: Group) -> Owners:
    return {
        p: group.processes[found[0]].identity
        for p, found in group.owners().items()
        if found
    }


def of(configuration: Configuration, topics: str) -> Configuration:
    return replace(configuration, topics=frozenset(topics))


def disturb(group: Group, rng: Random, configuration: Configuration) -> str:
    """Start, crash, close or bounce a member; what it wants then is drawn anew."""
    running, topics = alive(group), rng.choice(WANTED)
    roll = rng.randrange(4)
    if roll == 0 or not running:
        if len(running) < len(NAMES):
            group.start(rng.choice(NAMES), replace(configuration, topics=topics))
        return "start"
    process = rng.choice(running)
    if roll == 1:
        group.crash(process)
        return "crash"
    if roll == 2:
        group.leave(process)
        return "leave"
    name = process.rpartition("-")[0]
    bounce(group, name, replace(configuration, topics=topics))
    return "bounce"


def history(seed: int, configuration: Configuration) -> Counter[str]:
    """Disturb a group again and again; count its moves, the least, and what is more.

    What is more also by what had happened.
    """
    last_drawn.note({"history": str(configuration)}, seed)
    rng = Random(seed)  # noqa: S311
    group = Group(TOPICS)
    for name in NAMES[:3]:
        group.start(name, replace(configuration, topics=rng.choice(WANTED)))
    counted: Counter[str] = Counter()
    happened = "begin"
    for _ in range(8):
        moves, least = settled(group)
        assert moves >= least
        counted += Counter({"moves": moves, "least": least, happened: moves - least})
        happened = disturb(group, rng, configuration)
    return counted


def test_the_least_is_of_the_nearest_even_assignment() -> None:
    before = {("t", 0): "a", ("t", 1): "a", ("t", 2): "a", ("u", 0): "b", ("v", 0): "b"}
    apart = {"a": frozenset("t"), "b": frozenset("uv")}
    assert least_even_moves(before, apart) == 0
    assert least_even_moves(before, apart | {"c": frozenset("t")}) == 1
    assert least_even_moves(before, {"a": frozenset("tuv"), "c": frozenset("t")}) == 4
    assert least_even_moves(before, {"a": frozenset("t")}) == 0


def test_a_joining_member_receives_only_subscribed_topics() -> None:
    group = Group(TOPICS)
    group.start("c0", of(COOPERATIVE, "t"))
    group.start("c1", of(COOPERATIVE, "uv"))
    group.settle()
    kept = group.processes["c1-1"].held
    group.start("c2", of(COOPERATIVE, "t"))
    assert settled(group) == (1, 1)
    assert group.processes["c1-1"].held == kept
    assert len(group.processes["c0-1"].held) == 2


def test_eager_sticky_remembers_revoked_partitions() -> None:
    """Otherwise a joining member would cause the moves of a new assignment (KIP-54)."""
    group = Group(TOPICS)
    for name, topics in {"c0": "tu", "c1": "tv"}.items():
        group.start(name, of(EAGER, topics))
        group.settle()
    group.start("c2", of(EAGER, "u"))
    assert settled(group) == (1, 1)
    group.leave("c2-1")
    assert settled(group) == (1, 1)


def test_topics_without_subscribers_have_no_owners() -> None:
    group = Group(TOPICS)
    group.start("c0", of(EAGER, "t"))
    group.start("c1", of(EAGER, "uv"))
    group.settle()
    group.leave(living(group, "c1"))
    assert settled(group) == (0, 0)
    assert owners_of(group).keys() == {("t", 0), ("t", 1), ("t", 2)}


def test_an_upgrade_from_sticky_takes_one_bounce_with_mixed_subscriptions_too() -> None:
    group = Group(TOPICS)
    wanted = {"c0": "t", "c1": "tu", "c2": "uv"}
    for name, topics in wanted.items():
        group.start(name, of(EAGER, topics))
    group.settle()
    for name, topics in wanted.items():
        bounce(group, name, of(EITHER, topics))
        moves, least = settled(group)
        assert moves >= least
    protocols = {group.processes[process].protocol for process in alive(group)}
    assert protocols == {RebalanceProtocol.COOPERATIVE}


@pytest.mark.heavy
@pytest.mark.parametrize("configuration", [COOPERATIVE, EAGER])
def test_the_page_states_the_counts(configuration: Configuration) -> None:
    """docs/group-protocol.md: moves, the least, and what the others go to."""
    counted = sum((history(seed, configuration) for seed in range(60)), Counter[str]())
    more = {"begin": 86, "bounce": 28, "start": 1}
    assert counted == {"moves": 643, "least": 528} | more


class MixedGroup(GroupMachine):
    """Every process wants topics of its own, the next of a static member too."""

    topics = TOPICS
    pool = (COOPERATIVE, EITHER, EAGER, wanting(STICKY, GENERAL_STICKY))
    more_generations = MOST_ROUNDS

    def __init__(self) -> None:
        super().__init__()
        self.settled_owners: Owners = {}
        self.settled_moves = 0

    def _configured(
        self, data: st.DataObject, instance_id: str | None
    ) -> Configuration:
        drawn = super()._configured(data, instance_id)
        return replace(drawn, topics=data.draw(st.sampled_from(WANTED)))

    def rested(self) -> None:
        wants, owners = wants_of(self.group), owners_of(self.group)
        assert is_even(owners, wants)
        moves = self.group.history.moves
        if wants:
            least = least_even_moves(self.settled_owners, wants)
            assert moves - self.settled_moves >= least
        self.settled_owners = dict(self.group.history.last_owner)
        self.settled_moves = moves


@pytest.mark.parametrize(
    "safeguard",
    [pytest.param("withholds", marks=pytest.mark.heavy), "heeds_new_topics"],
)
def test_the_machine_finds_the_fault_of_a_missing_safeguard(
    safeguard: str,
) -> None:
    class Broken(MixedGroup):
        safeguards = Safeguards(**{safeguard: False})

    with pytest.raises(AssertionError):
        run_state_machine_as_test(Broken, settings=FIXED)


TestMixedGroup = MixedGroup.TestCase
TestMixedGroup.settings = settings(
    max_examples=25, stateful_step_count=25, deadline=None
)


@pytest.mark.heavy
def test_the_machine_at_length() -> None:
    """Every night draws anew."""
    at_length = settings(
        FIXED, derandomize=FIRST_SEED == 0, max_examples=min(INSTANCES // 100, 400)
    )
    run_state_machine_as_test(MixedGroup, settings=at_length)
