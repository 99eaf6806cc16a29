"""Groups with planned events, which an audit of their records is to explain.

A member that starts again has the client id that it had before, as a service has that
is restarted. The acts of a group follow one another with pauses, so that each state
lasts; every act but some kills waits until the group has settled.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from conformance.consumer_programs import Property
from studies.recording.recorded_consumer import JAVA, RecordedConsumer
from studies.recording.recorded_group import RecordedGroup
from studies.recording.scenarios import CLASSIC, CONSUMER, COOPERATIVE, LIBRDKAFKA

TOPICS: Final = {"orders": 12, "payments": 6, "refunds": 6, "clicks": 6}
KAFKA_SESSION_MS: Final = 45_000
"""Default of ``session.timeout.ms`` in Java and librdkafka."""
CALM: Final[dict[str, Property]] = {
    "heartbeat.interval.ms": 1000,
    "auto.commit.interval.ms": 5000,
}
"""Properties of the members of classic groups."""
NEXT: Final[dict[str, Property]] = {"auto.commit.interval.ms": 5000}
"""Properties of the members of groups of the new protocol."""
REFRESHED: Final[dict[str, Property]] = {
    "topic.metadata.refresh.interval.ms": 2000,
    "metadata.max.age.ms": 6000,
}
"""How soon librdkafka notices new partitions; its default is 5 minutes."""
SLOW_MS: Final = 6_000
STATE_SECONDS: Final = 12
CRASHES: Final = (1,) * 10 + (9,) * 4
"""Seconds after each crash until the consumer starts again."""
CRASH_SECONDS: Final = 8
"""Seconds from a start of that consumer to its next crash."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedGroup:
    """A group: its events, and the settings of its members."""

    run: Callable[[RecordedGroup], None]
    session_ms: int = KAFKA_SESSION_MS
    settings: Mapping[str, Property] = field(default_factory=lambda: CALM)


def crash_loop(
    group: RecordedGroup,
    instances: Sequence[str] = (),
    *,
    assignors: Sequence[str] = ("range",),
    protocol: str = CLASSIC,
) -> None:
    """Kill the last member and start it again, within and after its session."""
    topics = ["orders"]
    names = assignors if protocol == CLASSIC else ()
    _start_together(
        group, 3, *names, topics=topics, protocol=protocol, instances=instances
    )
    for seconds in CRASHES:
        member = group.members[-1]
        group.kill(member, waits=False)
        time.sleep(seconds)
        group.start_again(member)
        time.sleep(CRASH_SECONDS)


def rolling_restart(
    group: RecordedGroup,
    *assignors: str,
    protocol: str = CLASSIC,
    instances: Sequence[str] = (),
) -> None:
    """Close each member and start it again, one after the other."""
    topics = ["orders", "payments"]
    for member in _start_together(
        group, 4, *assignors, topics=topics, protocol=protocol, instances=instances
    ):
        group.leave(member, waits=not instances)
        time.sleep(2)
        group.start_again(member)
        time.sleep(STATE_SECONDS)


def static_return(group: RecordedGroup) -> None:
    """Let static members return within their session, and one after it (KIP-345)."""
    names = ["static-a", "static-b", "static-c"]
    first, second, third = _start_together(
        group, 3, "range", topics=["orders"], instances=names
    )
    group.leave(second, waits=False)
    time.sleep(4)
    group.start_again(second)
    time.sleep(STATE_SECONDS)
    group.kill(first, waits=False)
    time.sleep(4)
    group.start_again(first)
    time.sleep(STATE_SECONDS)
    group.kill(third)
    time.sleep(STATE_SECONDS)
    group.start_again(third)
    time.sleep(STATE_SECONDS)


def topic_growth(group: RecordedGroup) -> None:
    """Add partitions to the group's topic, twice."""
    _start_together(group, 3, COOPERATIVE, topics=["clicks"])
    group.grow("clicks", 9)
    time.sleep(STATE_SECONDS)
    group.grow("clicks", 12)
    time.sleep(STATE_SECONDS)


def dead_consumer(group: RecordedGroup) -> None:
    """Kill a member that does not return; its session is Kafka's default."""
    members = _start_together(group, 3, "roundrobin", topics=["orders"])
    time.sleep(STATE_SECONDS)
    group.kill(members[1])


def slow_consumer(group: RecordedGroup) -> None:
    """Let a member exceed ``max.poll.interval.ms``, twice: its client leaves."""
    members = _start_together(group, 3, COOPERATIVE, topics=["payments"])
    for _ in range(2):
        group.pause(members[2], 3 * SLOW_MS / 1000)
        time.sleep(STATE_SECONDS)


def cooperative_upgrade(group: RecordedGroup) -> None:
    """Upgrade ``range`` to ``cooperative-sticky`` in two bounces (KIP-429, KIP-726)."""
    members = _start_together(group, 3, "range", topics=["orders"], library=JAVA)
    for assignors in ((COOPERATIVE, "range"), (COOPERATIVE,)):
        for member in list(members):
            group.leave(member)
            again = group.start_again(member, *assignors)
            members[members.index(member)] = again
        time.sleep(STATE_SECONDS)


def new_protocol(group: RecordedGroup) -> None:
    """Let a member leave, kill one, and let one join (KIP-848)."""
    topics = ["orders", "payments"]
    members = _start_together(group, 4, topics=topics, protocol=CONSUMER)
    group.leave(members[0])
    time.sleep(STATE_SECONDS)
    group.kill(members[1])
    time.sleep(STATE_SECONDS)
    group.start(LIBRDKAFKA, topics=topics, protocol=CONSUMER)
    time.sleep(STATE_SECONDS)


def resubscription(group: RecordedGroup) -> None:
    """Let a member drop a topic of its subscription, and add another."""
    members = _start_together(group, 3, "range", topics=["orders", "payments"])
    group.subscribe(members[1], "orders")
    time.sleep(STATE_SECONDS)
    group.subscribe(members[1], "orders", "payments", "refunds")
    time.sleep(STATE_SECONDS)


def staggered_start(group: RecordedGroup) -> None:
    """Let members start one after the other, and leave one after the other."""
    for _ in range(4):
        group.start(LIBRDKAFKA, "range", topics=["payments"])
        time.sleep(3)
    time.sleep(STATE_SECONDS)
    group.close()


def quiet(group: RecordedGroup) -> None:
    """Start, and stay."""
    _start_together(group, 2, "range", topics=["payments", "refunds"])


def _start_together(
    group: RecordedGroup,
    count: int,
    *assignors: str,
    topics: Sequence[str],
    library: str = LIBRDKAFKA,
    protocol: str = CLASSIC,
    instances: Sequence[str] = (),
) -> list[RecordedConsumer]:
    """Start members at the same time; return them when their state has lasted."""
    for place in range(count):
        group.start(
            library,
            *assignors,
            topics=topics,
            protocol=protocol,
            instance=instances[place] if instances else None,
            waits=place == count - 1,
        )
    time.sleep(STATE_SECONDS)
    return list(group.members)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRecording:
    """Groups by name, and the ``group.initial.rebalance.delay.ms`` of their broker."""

    groups: Mapping[str, PlannedGroup]
    delay_ms: int = 3_000


PLANNED: Final = MappingProxyType(
    {
        "cooperative-upgrade": PlannedGroup(run=cooperative_upgrade),
        "crash-loop": PlannedGroup(run=crash_loop, session_ms=6_000),
        "rolling-restart": PlannedGroup(
            run=lambda group: rolling_restart(group, "range")
        ),
        "static-return": PlannedGroup(run=static_return, session_ms=15_000),
        "dead-consumer": PlannedGroup(run=dead_consumer),
        "new-protocol": PlannedGroup(run=new_protocol, settings=NEXT),
        "resubscription": PlannedGroup(run=resubscription),
        "staggered-start": PlannedGroup(run=staggered_start),
        "slow-consumer": PlannedGroup(
            run=slow_consumer,
            settings=CALM | {"max.poll.interval.ms": SLOW_MS},
            session_ms=SLOW_MS,
        ),
        "topic-growth": PlannedGroup(
            run=topic_growth, settings=CALM | REFRESHED, session_ms=10_000
        ),
        "quiet": PlannedGroup(run=quiet),
    }
)
"""Planned events by the name of the group, the longest first."""
