"""Scenario of each group of a recording.

Each scenario is named for its group. Kills are ``kill -9``: the broker notices when the
session times out. The rolling upgrade is that of KIP-726, the migrations are those of
KIP-848 (``group.consumer.migration.policy=bidirectional``, Kafka's default).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, NamedTuple

from studies.recording.recorded_group import RecordedGroup

JAVA: Final = "java"
LIBRDKAFKA: Final = "librdkafka"
KAFKA_PYTHON: Final = "kafka-python"
AIOKAFKA: Final = "aiokafka"
LIBRARIES: Final = (LIBRDKAFKA, KAFKA_PYTHON, AIOKAFKA, JAVA)
CLASSIC: Final = "classic"
CONSUMER: Final = "consumer"
COOPERATIVE: Final = "cooperative-sticky"


class MemberKind(NamedTuple):
    """A kind of member: client library, assignors, and protocol."""

    library: str
    assignors: tuple[str, ...]
    protocol: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupScenario:
    """Events of a group; ``kinds`` are the members that random churn starts, if any."""

    run: Callable[[RecordedGroup], None]
    kinds: tuple[MemberKind, ...]


def churn(group: RecordedGroup, library: str, *assignors: str, protocol: str) -> None:
    """Join, leave, kill, and subscribe anew."""

    def start(*topics: str, waits: bool = True) -> None:
        group.start(library, *assignors, topics=topics, protocol=protocol, waits=waits)

    start()
    start(waits=False)
    start("orders", "payments")
    group.subscribe(group.members[0], "orders", "refunds")
    group.kill(group.members[1])
    start()
    group.leave(group.members[0])


def turn_over(group: RecordedGroup, library: str, *assignors: str) -> None:
    """Join, leave, and kill, with one subscription.

    A kafka-python consumer (3.0.12) whose subscription, or that of its group, changes
    while it joins can stay outside of the group for ever; its heartbeats then end.
    """
    group.start(library, *assignors)
    group.start(library, *assignors, waits=False)
    group.start(library, *assignors)
    group.kill(group.members[0])
    group.start(library, *assignors)
    group.leave(group.members[1])


def restart_static_members(
    group: RecordedGroup, library: str, *assignors: str, protocol: str
) -> None:
    """Restart a static member within its session, and one after a kill (KIP-345).

    In the new protocol, the member id of a killed member stays in use until its session
    times out (``UNRELEASED_INSTANCE_ID``).
    """
    for name in ("i0", "i1", "i2"):
        group.start(library, *assignors, instance=name, protocol=protocol)
    first, second, _ = group.members
    group.leave(first, waits=False)
    group.start(library, *assignors, instance="i0", protocol=protocol)
    group.kill(second, waits=protocol == CONSUMER)
    group.start(library, *assignors, instance="i1", protocol=protocol)


def upgrade(group: RecordedGroup) -> None:
    """Upgrade ``range`` to ``cooperative-sticky`` in two rolling bounces (KIP-726)."""
    bounces = (("range",), (COOPERATIVE, "range"), (COOPERATIVE,))
    for assignors in bounces:
        old = list(group.members)
        for at in range(2):
            if old:
                group.leave(old[at], waits=len(group.members) > 1)
            group.start(JAVA, *assignors)


def migrate(group: RecordedGroup, library: str, *assignors: str) -> None:
    """Move a group to the new protocol and back, member by member (KIP-848)."""
    for _ in range(2):
        group.start(library, *assignors)
    for names, protocol in (((), CONSUMER), (assignors, CLASSIC)):
        for old in list(group.members):
            group.leave(old)
            group.start(library, *names, protocol=protocol)
    group.start(library, *assignors)


def mix(group: RecordedGroup) -> None:
    """Let four client libraries be members of one group."""
    for library in LIBRARIES:
        group.start(library, "range")
    group.kill(group.members[0])
    group.leave(group.members[0])
    group.leave(group.members[0])


def _churned(library: str, *assignors: str, protocol: str = CLASSIC) -> GroupScenario:
    return GroupScenario(
        run=lambda group: churn(group, library, *assignors, protocol=protocol),
        kinds=(MemberKind(library, assignors, protocol),),
    )


def _restarted(library: str, *assignors: str, protocol: str = CLASSIC) -> GroupScenario:
    return GroupScenario(
        run=lambda group: restart_static_members(
            group, library, *assignors, protocol=protocol
        ),
        kinds=(MemberKind(library, assignors, protocol),),
    )


def _migrated(library: str, assignor: str) -> GroupScenario:
    return GroupScenario(
        run=lambda group: migrate(group, library, assignor),
        kinds=(
            MemberKind(library, (assignor,), CLASSIC),
            MemberKind(library, (), CONSUMER),
        ),
    )


SCENARIOS: Final = MappingProxyType(
    {
        "java-migration": _migrated(JAVA, COOPERATIVE),
        "java-upgrade": GroupScenario(
            run=upgrade, kinds=(MemberKind(JAVA, (COOPERATIVE,), CLASSIC),)
        ),
        "java-sticky": _churned(JAVA, "sticky"),
        "java-next": _churned(JAVA, protocol=CONSUMER),
        "librdkafka-cooperative": _churned(LIBRDKAFKA, COOPERATIVE),
        "librdkafka-next": _churned(LIBRDKAFKA, "range", protocol=CONSUMER),
        "librdkafka-next-static": _restarted(LIBRDKAFKA, protocol=CONSUMER),
        "four-libraries": GroupScenario(
            run=mix,
            kinds=tuple(
                MemberKind(library, ("range",), CLASSIC)
                for library in LIBRARIES
                if library != KAFKA_PYTHON
            ),
        ),
        "kafka-python-sticky": GroupScenario(
            run=lambda group: turn_over(group, KAFKA_PYTHON, "sticky"), kinds=()
        ),
        "kafka-python-cooperative": GroupScenario(
            run=lambda group: turn_over(group, KAFKA_PYTHON, COOPERATIVE), kinds=()
        ),
        "aiokafka-roundrobin": _churned(AIOKAFKA, "roundrobin"),
        # The broker rejects user data, which librdkafka's cooperative-sticky writes.
        "librdkafka-migration": _migrated(LIBRDKAFKA, "range"),
        "librdkafka-static": _restarted(LIBRDKAFKA, "range"),
    }
)
"""Scenario by the name of its group, the longest first."""
