"""Random churn after a scenario; a seed determines the order of the acts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from random import Random
from typing import Final

from studies.recording.recorded_group import RecordedGroup
from studies.recording.scenarios import MemberKind

LEAST_MEMBERS: Final = 2
MOST_MEMBERS: Final = 4  # so that each has partitions, whatever they subscribe to
WAITING: Final = 0.75  # share of the acts after which the group settles


def churn_at_random(
    group: RecordedGroup, kinds: Sequence[MemberKind], random: Random, seconds: float
) -> None:
    """Let random members start, leave, be killed, and subscribe anew, for a time."""
    deadline = time.monotonic() + seconds
    while kinds and time.monotonic() < deadline:
        _act(group, kinds, random, waits=random.random() < WAITING)
    if kinds and seconds:
        group.settle()


def _act(
    group: RecordedGroup, kinds: Sequence[MemberKind], random: Random, *, waits: bool
) -> None:
    topics = sorted(group.place.topics)
    some = random.sample(topics, random.randint(1, len(topics)))
    acts = ["subscribe"]
    if len(group.members) < MOST_MEMBERS:
        acts += ["start", "start"]
    if len(group.members) > LEAST_MEMBERS:
        acts += ["leave", "kill"]
    act, kind = random.choice(acts), random.choice(kinds)
    if act == "start":
        group.start(
            kind.library,
            *kind.assignors,
            topics=some,
            protocol=kind.protocol,
            waits=waits,
        )
        return
    member = random.choice(group.members)
    if act == "leave":
        group.leave(member, waits=waits)
    elif act == "kill":
        group.kill(member, waits=waits)
    elif set(some) != set(member.topics):
        group.subscribe(member, *some, waits=waits)
