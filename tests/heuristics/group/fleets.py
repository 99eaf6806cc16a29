"""Configurations of groups, and the invariants of every group.

Reaches into `heuristics.group` for the events that count as progress.
"""

from __future__ import annotations

from heuristics import ASSIGNORS
from heuristics.group import (
    Configuration,
    Event,
    EventKind,
    Group,
    Phase,
    ProtocolChoice,
    RebalanceProtocol,
    Safeguards,
    Strategy,
)
from heuristics.group.events import PROGRESS

RANGE = Strategy(name="range", assignor=ASSIGNORS["range"])
COOPERATIVE_STICKY = Strategy(
    name="cooperative-sticky",
    assignor=ASSIGNORS["constrained-sticky"],
    highest=RebalanceProtocol.COOPERATIVE,
)
COOPERATIVE_RANGE = Strategy(
    name="cooperative-range",
    assignor=ASSIGNORS["range"],
    highest=RebalanceProtocol.COOPERATIVE,
)
STICKY = Strategy(name="sticky", assignor=ASSIGNORS["sticky"], remembers=True)
GENERAL_STICKY = Strategy(  # the general path, for mixed subscriptions
    name="cooperative-sticky",
    assignor=ASSIGNORS["sticky"],
    highest=RebalanceProtocol.COOPERATIVE,
)
TOPICS = {"t": 4, "u": 1}
SAFE = Safeguards()


def wanting(
    *strategies: Strategy,
    choice: ProtocolChoice = ProtocolChoice.DYNAMIC,
    instance_id: str | None = None,
    topics: frozenset[str] = frozenset(TOPICS),
) -> Configuration:
    return Configuration(
        strategies=strategies, topics=topics, choice=choice, instance_id=instance_id
    )


OLD = wanting(RANGE, choice=ProtocolChoice.STATIC)
DEFAULT = wanting(COOPERATIVE_STICKY, RANGE)  # KIP-726's, sink connectors' too
SHIPPED = wanting(RANGE, COOPERATIVE_STICKY, choice=ProtocolChoice.STATIC)  # 3.0
ONLY = wanting(COOPERATIVE_STICKY, choice=ProtocolChoice.STATIC)
MIXED = wanting(COOPERATIVE_RANGE, RANGE)
DOWN = wanting(RANGE, COOPERATIVE_STICKY)


def group_of(*configurations: Configuration, safeguards: Safeguards = SAFE) -> Group:
    """Start members c0, c1, … and let them settle."""
    group = Group(TOPICS, safeguards=safeguards)
    for i, configuration in enumerate(configurations):
        group.start(f"c{i}", configuration)
    group.settle()
    return group


def bounce(group: Group, name: str, configuration: Configuration) -> str:
    """Close a member's process and start another."""
    group.leave(living(group, name))
    return group.start(name, configuration)


def living(group: Group, name: str) -> str:
    """Name the newest living process of a name."""
    return next(
        process
        for process in reversed(group.processes)
        if process.startswith(f"{name}-") and group.processes[process].is_alive
    )


def assert_safe(group: Group) -> None:
    """No partition has two owners that may commit; who owns, wants."""
    for partition, owners in group.owners().items():
        assert len(owners) <= 1, f"{partition} has {owners}"
        for owner in owners:
            assert partition[0] in group.processes[owner].configuration.topics


def assert_at_rest(group: Group) -> None:
    """Every partition that a member wants has an owner; nobody holds what is not its.

    Call when nothing is left to happen.
    """
    assert group.events() == ()
    assert group.orphans() == frozenset()
    for process, member in group.processes.items():
        if member.is_alive:
            assert member.phase is Phase.STABLE
            owned = {p for p, owners in group.owners().items() if process in owners}
            assert member.held == owned
            assert member.revoking == frozenset()


def alive(group: Group) -> list[str]:
    return [process for process, m in group.processes.items() if m.is_alive]


def likely(group: Group, *, rare: bool) -> list[Event]:
    """Draw events of a healthy group, or any events."""
    events = group.events(faults=rare)
    usual = [event for event in events if event.kind in PROGRESS]
    return list(events) if rare or not usual else usual


def happen(group: Group, *steps: str) -> None:
    """Let events, such as ``JOIN c1-1``, happen in this order, and check after each."""
    for step in steps:
        kind, _, subject = step.partition(" ")
        group.apply(Event(EventKind[kind], subject))
        assert_safe(group)
