"""Histories of ordinary actions that bring a group of real consumers into a state."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from rebalance import OutsideError
from studies.confirmation.commands import Pace
from studies.confirmation.real_group import RealGroup


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientHistory:
    """The acts on a group of one client.

    Attributes
    ----------
    topics : mapping
        Partition counts; topics are created before the history begins.
    sentences : tuple of str
        The steps of `play`, a sentence per step.
    play : callable
        Plays the history; the fault is expected when it returns.
    pace : Pace
    is_judged : bool
        Whether the answers of the leader are judged, in each generation that the broker
        has stored, rather than whether it answers.
    scenario : str
        The scenario of the corpus with the rebalance that the group then sees, apart
        from names; empty: none.
    """

    topics: Mapping[str, int]
    sentences: tuple[str, ...]
    play: Callable[[RealGroup], None]
    pace: Pace = field(default_factory=Pace)
    is_judged: bool = False
    scenario: str = ""


def sentences(text: str) -> tuple[str, ...]:
    """Return the paragraphs of a text, each in one line."""
    return tuple(" ".join(part.split()) for part in text.strip().split("\n\n"))


ENDLESS_TOPICS: Final = MappingProxyType({"t": 5, "u": 10})
BEFORE: Final = MappingProxyType({"C": "u", "A": "t", "B": "t"})
JOINERS: Final = MappingProxyType({"D": "tu", "E": "u"})


PAUSE_SECONDS: Final = 0.3
"""Until paused members poll no more: a poll takes 0.1 s, and can join a rebalance."""


def _play_endless(group: RealGroup) -> None:
    _play_joiners(group, {"A": [2, 3, 4], "B": [0, 1]})


def _play_joiners(group: RealGroup, shared: Mapping[str, list[int]] | None) -> None:
    """Let two members join at once; ``shared`` are the partitions of t before."""
    group.make_ready(*JOINERS)
    for member, topics in BEFORE.items():
        group.start(member, list(topics))
        state = group.settle()
    held = {member: sorted(state.held[member]["t"]) for member in "AB"}
    if shared is not None and held != shared:
        raise OutsideError(f"topic t is assigned otherwise: {held}")
    group.pause(*BEFORE)
    time.sleep(PAUSE_SECONDS)
    for member, topics in JOINERS.items():
        group.start(member, list(topics))
    group.wait_for_members()
    group.resume(*BEFORE)


_THREE_START: Final = """
Three consumers start one after the other: C subscribes to u, A and B to t.
"""
_TWO_JOIN: Final = """
Two consumers start while the others are busy: D subscribes to t and u, E to u.

One rebalance sees all five subscriptions and the claims of the three.
"""
ENDLESS: Final = ClientHistory(
    topics=ENDLESS_TOPICS,
    sentences=(
        *sentences(_THREE_START),
        *sentences(
            """
            The group is stable, and every partition has a member: C has u, A has t:2,
            t:3, and t:4, and B has t:0 and t:1.
            """
        ),
        *sentences(_TWO_JOIN),
    ),
    play=_play_endless,
    scenario="sticky-endless",
)
OTHER_SHARES: Final = ClientHistory(
    topics=ENDLESS_TOPICS,
    sentences=(
        *sentences(_THREE_START),
        *sentences(
            """
            The group is stable, and every partition has a member: C has u, and A and B
            have three and two partitions of t, by their numbers others than those of
            assignors that have the fault.
            """
        ),
        *sentences(_TWO_JOIN),
    ),
    play=lambda group: _play_joiners(group, None),
)


HEARTBEAT_MS: Final = 8_000


def _play_stale(group: RealGroup) -> None:
    group.start("a", ["p"])
    group.wait_for_event("a", "assign")
    began = time.monotonic()
    group.settle()
    group.pause("a")  # in the callback that revokes its partitions
    # Just before its next heartbeat: the one after it comes when a has joined again.
    time.sleep(max(0.0, began + HEARTBEAT_MS / 1000 - 1 - time.monotonic()))
    group.start("b", ["p", "q"])
    _wait_for(group, {"b": {"p": [0], "q": [0]}})
    group.pause("b")
    group.subscribe("b", ["q"])
    group.wait_for_event("b", "revoke")
    group.resume("a")
    group.wait_for_members()
    group.resume("b")


def _wait_for(group: RealGroup, held: dict[str, dict[str, list[int]]]) -> None:
    group.cluster.wait_for(group.name, lambda state: state.held == held, 40)


def _wait_for_end_of(group: RealGroup, held: dict[str, dict[str, list[int]]]) -> None:
    group.cluster.wait_for(group.name, lambda state: state.held != held, 40)


STALE: Final = ClientHistory(
    topics=MappingProxyType({"p": 1, "q": 1}),
    sentences=sentences(
        """
        a starts, subscribes to p, and receives its only partition.

        b starts and subscribes to p and q. The application of a is slow: its
        callback of the revocation takes longer than the rebalance timeout of 3 s,
        so that the broker removes a, and b receives both partitions.

        b leaves p (PurgeTopicsFromClient), and its callback of the revocation
        begins.

        The callback of a returns. It joins again, still claims p:0 of its
        generation, and the broker gives it a new member id.

        The callback of b returns, and it joins. It claims p:0, too, with a newer
        generation, but does not subscribe to p any more.
        """
    ),
    play=_play_stale,
    pace=Pace(join=3_000, heartbeat=HEARTBEAT_MS),
    scenario="franz-go-4deed686",
)


def _play_nothing(group: RealGroup) -> None:
    group.start("a", ["^nothing-matches-.*"])


def _play_missing(group: RealGroup) -> None:
    group.start("a", ["nothing-of-this-name"])


def _play_other_pattern(group: RealGroup) -> None:
    group.start("a", ["p"])
    group.settle()
    group.subscribe("a", ["^nothing-matches-.*"])
    _wait_for_end_of(group, {"a": {"p": [0]}})


def _play_deleted(group: RealGroup) -> None:
    group.start("a", ["deleted"])
    group.settle()
    group.cluster.delete_topic("deleted")
    _wait_for_end_of(group, {"a": {"deleted": [0]}})


NO_MATCH: Final = ClientHistory(
    topics=MappingProxyType({"p": 1}),
    sentences=sentences(
        """
        a starts and subscribes to a pattern that matches no topic.
        """
    ),
    play=_play_nothing,
)
NO_TOPIC: Final = ClientHistory(
    topics=MappingProxyType({"p": 1}),
    sentences=sentences(
        """
        a starts and subscribes to a topic that does not exist.
        """
    ),
    play=_play_missing,
)

OTHER_PATTERN: Final = ClientHistory(
    topics=MappingProxyType({"p": 1}),
    sentences=sentences(
        """
        a starts, subscribes to p, and receives its only partition.

        a changes its subscription to a pattern that matches no topic.
        """
    ),
    play=_play_other_pattern,
)
DELETED: Final = ClientHistory(
    topics=MappingProxyType({"deleted": 1}),
    sentences=sentences(
        """
        a starts, subscribes to a topic, and receives its only partition.

        The topic is deleted.
        """
    ),
    play=_play_deleted,
)
MANY_TOPICS: Final = MappingProxyType(
    dict(zip("ABCDEFGHIJ", (12, 9, 6, 5, 4, 11, 4, 12, 12, 4), strict=True))
)
MANY_JOINERS: Final = MappingProxyType(
    {"m2": "A", "m3": "DF", "m4": "C", "m5": "IJ", "m6": "GI", "m8": "BG", "m9": "HJ"}
)


def _play_many_join(group: RealGroup) -> None:
    group.make_ready(*MANY_JOINERS)
    group.start("m1", list(MANY_TOPICS))
    group.settle()
    group.pause("m1")
    time.sleep(PAUSE_SECONDS)
    for member, topics in MANY_JOINERS.items():
        group.start(member, list(topics))
    group.wait_for_members()
    group.resume("m1")


MANY_JOIN: Final = ClientHistory(
    topics=MANY_TOPICS,
    sentences=sentences(
        """
        m1 starts, subscribes to ten topics, A to J, and receives all 79 partitions.

        Seven consumers start while m1 does not poll: m2 subscribes to A, m3 to D and F,
        m4 to C, m5 to I and J, m6 to G and I, m8 to B and G, m9 to H and J.

        m1 polls, and one rebalance sees all eight.
        """
    ),
    play=_play_many_join,
)


AWAY_MS: Final = 10_000
"""Longer than a heartbeat, so that the other member joins again in time."""
RETURN_SECONDS: Final = 14.0
"""Until both members have joined, and have revoked the partitions that they have to."""


def _play_return(group: RealGroup) -> None:
    group.start("b", ["p"])
    group.wait_for_event("b", "assign")
    began = time.monotonic()
    group.settle()
    group.pause("b")
    time.sleep(max(0.0, began + HEARTBEAT_MS / 1000 - 1 - time.monotonic()))
    group.start("a", ["p", "q"])
    _wait_for(group, {"a": {"p": [0], "q": [0]}})
    group.resume("b")
    group.settle()
    time.sleep(RETURN_SECONDS)


RETURN: Final = ClientHistory(
    topics=MappingProxyType({"p": 1, "q": 1}),
    sentences=sentences(
        """
        b starts, subscribes to p, and receives its only partition.

        b is busy: it does not poll, or its callback of a revocation does not return. a
        starts and subscribes to p and q. b does not join again within the rebalance
        timeout of 10 s, so that the broker removes it, and a receives both partitions.

        b is free again, and joins.
        """
    ),
    play=_play_return,
    pace=Pace(session=30_000, join=AWAY_MS, heartbeat=HEARTBEAT_MS),
    is_judged=True,
)
