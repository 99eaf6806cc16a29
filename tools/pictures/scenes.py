"""Simulated groups for pictures, and their state after each step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from heuristics.constrained_sticky import ConstrainedStickyAssignor
from heuristics.group import (
    Configuration,
    Event,
    EventKind,
    Group,
    ProtocolChoice,
    RebalanceProtocol,
    Safeguards,
    Strategy,
)
from heuristics.group.messages import Partition, Partitions
from heuristics.range import RangeAssignor

RANGE: Final = Strategy(name="range", assignor=RangeAssignor())
STICKY: Final = Strategy(
    name="cooperative-sticky",
    assignor=ConstrainedStickyAssignor(),  # its path for equal subscriptions
    highest=RebalanceProtocol.COOPERATIVE,
)
SPREAD: Final = Strategy(
    name="cooperative-range",
    assignor=RangeAssignor(),
    highest=RebalanceProtocol.COOPERATIVE,
)
TOPICS: Final = {"t": 6}
_WANTED: Final = frozenset(TOPICS)
OLD: Final = Configuration(
    strategies=(RANGE,), topics=_WANTED, choice=ProtocolChoice.STATIC
)
NEW: Final = Configuration(strategies=(STICKY, RANGE), topics=_WANTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """One member at one step: its newest process."""

    process: str
    listed: tuple[str, ...]
    protocol: RebalanceProtocol
    held: Partitions
    revoking: Partitions
    may_commit: bool
    is_alive: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A group after an event; ``event`` is None before the first."""

    event: Event | None
    generation: int
    strategy: str | None
    members: dict[str, View]

    def committers(self, partition: Partition) -> int:
        """Count the members that hold a partition and may commit it."""
        views = self.members.values()
        return sum(view.may_commit and partition in view.held for view in views)


@dataclass(frozen=True, slots=True, kw_only=True)
class Animation:
    """A history, frame by frame."""

    title: str
    partitions: tuple[Partition, ...]
    frames: tuple[Frame, ...]


History = Callable[[Safeguards], Animation]


class _Camera:
    """Runs a group, and records a frame before the first and after each event."""

    def __init__(self, group: Group) -> None:
        self.group = group
        self.frames: list[Frame] = []
        self.take()

    def take(self) -> None:
        """Record a frame after the last event."""
        steps = self.group.history.steps
        event = steps[-1].event if self.frames else None
        self.frames.append(_frame(self.group, event))

    def next(self) -> None:
        """Apply the most usual event."""
        self.group.apply(self.group.events()[0])
        self.take()

    def rest(self) -> None:
        """Apply events until the group is stable."""
        while self.group.events():
            self.next()

    def happen(self, events: str) -> None:
        """Apply events, given as kinds and subjects, separated by commas."""
        for event in events.split(", "):
            kind, _, subject = event.rpartition(" ")
            if event == EventKind.REBALANCE_TIMEOUT.value:
                kind, subject = event, ""
            self.group.apply(Event(EventKind(kind), subject))
            self.take()

    def start(self, name: str, configuration: Configuration) -> None:
        """Start a process."""
        self.group.start(name, configuration)
        self.take()

    def bounce(self, name: str, configuration: Configuration) -> None:
        """Close a member's process, start another, and run until stable."""
        self.group.leave(_newest(self.group, name))
        self.take()
        self.start(name, configuration)
        self.rest()

    def scene(self, title: str) -> Animation:
        """Return the recorded frames."""
        sizes = self.group.topics.items()
        every = tuple((topic, n) for topic, count in sizes for n in range(count))
        return Animation(title=title, partitions=every, frames=tuple(self.frames))


def upgrade() -> Animation:
    """Restart three members with KIP-726's list instead of range; a fourth joins."""
    group = _settled(OLD, OLD, OLD)
    camera = _Camera(group)
    for name in ("c0", "c1", "c2"):
        camera.bounce(name, NEW)
    camera.start("c3", NEW)
    camera.rest()
    return camera.scene("a single rolling bounce, then c3 joins")


def with_and_without(safeguard: str, history: History) -> tuple[Animation, Animation]:
    """Run a history with all safeguards, then without one."""
    held, dropped = history(Safeguards()), history(Safeguards(**{safeguard: False}))
    return (
        replace(held, title="with all safeguards"),
        replace(dropped, title=f"without the safeguard {safeguard}"),
    )


def joining(safeguards: Safeguards) -> Animation:
    """Let c1 join while c0 is about to revoke (KIP-429)."""
    group = _settled(NEW, safeguards=safeguards)
    return _joined(group, NEW)


def going_down(safeguards: Safeguards) -> Animation:
    """Let an old member join: range is selected while c0 holds all (KIP-726)."""
    group = _settled(NEW, safeguards=safeguards)
    return _joined(group, OLD)


def _joined(group: Group, configuration: Configuration) -> Animation:
    camera = _Camera(group)
    camera.start("c1", configuration)
    camera.happen("join c1-1, heartbeat c0-1, join c0-1")
    camera.happen("receive c1-1, receive c0-1, sync c0-1, sync c1-1")
    camera.rest()
    return camera.scene("")


def looking_away(safeguards: Safeguards) -> Animation:
    """Let c1's session time out before it notices; it would still commit (KIP-429)."""
    camera = _Camera(_settled(OLD, OLD, safeguards=safeguards))
    camera.happen("session timeout c1-1.1, heartbeat c0-1, join c0-1")
    camera.happen("receive c0-1, sync c0-1, heartbeat c1-1")
    camera.rest()
    return camera.scene("")


def back_before_any_error(safeguards: Safeguards) -> Animation:
    """Let a static member miss a generation and join before a heartbeat reports it.

    Its last JoinGroup states the partitions that it held then: none, so its later
    partitions are assigned to others.
    """
    group = Group({"t": 4}, safeguards=safeguards)
    group.start("c0", _ranging(None))
    group.start("c1", _ranging("s1"))
    camera = _Camera(group)
    camera.happen("join c0-1, join c1-1, receive c0-1, sync c0-1, join c0-1")
    camera.rest()
    camera.frames.clear()
    camera.take()
    camera.start("c2", _ranging("s0"))
    camera.happen("join c2-1, heartbeat c0-1, join c0-1, rebalance timeout")
    camera.happen("receive c0-1, receive c2-1, sync c0-1, sync c2-1, revoked c0-1")
    group.enforce_rebalance("c1-1")
    camera.take()
    camera.happen("join c0-1, heartbeat c2-1, join c2-1, join c1-1")
    camera.happen("receive c0-1, receive c1-1, receive c2-1")
    camera.happen("sync c0-1, sync c2-1, sync c1-1")
    return camera.scene("")


def _ranging(instance_id: str | None) -> Configuration:
    """Return a strategy of cooperative ranges, which places static members first."""
    return Configuration(strategies=(SPREAD,), topics=_WANTED, instance_id=instance_id)


def revoking_to_death(safeguards: Safeguards) -> Animation:
    """Crash and restart a static member while only it has to revoke."""
    group = Group({"t": 1}, safeguards=safeguards)
    group.start("c0", _ranging(None))
    group.start("c1", _ranging("s1"))
    group.settle()
    camera = _Camera(group)
    camera.start("c2", _ranging("s0"))
    while not group.processes["c1-1"].revoking:
        camera.next()
    group.crash("c1-1")
    camera.take()
    camera.start("c1", _ranging("s1"))
    camera.rest()
    return camera.scene("")


def back_for_more(safeguards: Safeguards) -> Animation:
    """Restart a static member with one more topic (KAFKA-12759)."""
    group = Group({"t": 2, "u": 1}, safeguards=safeguards)
    group.start("c0", _ranging(None))
    group.start("c1", _ranging("s1"))
    group.settle()
    camera = _Camera(group)
    group.leave("c1-1")
    camera.take()
    camera.start("c1", replace(_ranging("s1"), topics=frozenset({"t", "u"})))
    camera.rest()
    return camera.scene("")


def _settled(
    *configurations: Configuration, safeguards: Safeguards | None = None
) -> Group:
    group = Group(TOPICS, safeguards=safeguards or Safeguards())
    for number, configuration in enumerate(configurations):
        group.start(f"c{number}", configuration)
    group.settle()
    return group


def _newest(group: Group, name: str) -> str:
    return [process for process in group.processes if process.startswith(f"{name}-")][
        -1
    ]


def _frame(group: Group, event: Event | None) -> Frame:
    names = sorted({process.rpartition("-")[0] for process in group.processes})
    return Frame(
        event=event,
        generation=group.coordinator.generation,
        strategy=group.coordinator.strategy,
        members={name: _view(group, _newest(group, name)) for name in names},
    )


def _view(group: Group, process: str) -> View:
    member = group.processes[process]
    return View(
        process=process,
        listed=member.configuration.names,
        protocol=member.protocol,
        held=member.held,
        revoking=member.revoking,
        may_commit=member.is_alive and group.may_commit(process),
        is_alive=member.is_alive,
    )
