"""Which members of a rebalance can be real consumers on a real broker, and how.

A real consumer claims the partitions that its leader assigned to it in the last
generation, of topics that exist. Claims beyond that, only a crafted member can make.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from conformance.wire import named_topics, newest_generation
from rebalance import Member, Rebalance
from rebalance.protocol import UNKNOWN_GENERATION, Partitions

MOST_REAL = 24
"""Real members of one group: each can be a process of its own."""
STATIC_CLIENTS = frozenset({"librdkafka"})
"""Clients whose program has static members."""


class Way(Enum):
    """How a group is brought into the state of a rebalance.

    Attributes
    ----------
    OWNER
        All members are real: one owns all partitions of its topics, the others join.
    HANDED_OUT
        All members are real; a crafted leader gives them their claims, and leaves.
    CRAFTED
        One member is real, gets its claims in this way, and leads; the others are
        crafted.
    NO_TOPIC
        No member reads a topic that exists: two real members join a rebalance during
        which their only topic is deleted.
    """

    OWNER = "owner"
    HANDED_OUT = "handed out"
    CRAFTED = "crafted"
    NO_TOPIC = "no topic"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayPlan:
    """A way, and who is real.

    Attributes
    ----------
    way : Way
    real : tuple of str
        Real members; the first is the owner, or the leader of crafted members.
    """

    way: Way
    real: tuple[str, ...]


def plan_of(instance: Rebalance, client: str) -> ReplayPlan | None:
    """Return how to play a rebalance, with as many real members as can be.

    Returns
    -------
    ReplayPlan or None
        None: no member can be real.
    """
    if not any(_existing(instance, member) for member in instance.members.values()):
        return ReplayPlan(way=Way.NO_TOPIC, real=())
    real = tuple(
        name
        for name, member in sorted(instance.members.items())
        if _can_be_real(instance, member, client)
    )
    if not real:
        return None
    if len(real) < len(instance.members) or len(real) > MOST_REAL:
        return ReplayPlan(way=Way.CRAFTED, real=(_leader(instance, real),))
    owner = _owner(instance)
    if owner is not None:
        others = tuple(name for name in real if name != owner)
        return ReplayPlan(way=Way.OWNER, real=(owner, *others))
    return ReplayPlan(way=Way.HANDED_OUT, real=real)


def broker_names(instance: Rebalance, prefix: str) -> dict[str, str]:
    """Return names that sort as those of the rebalance do, also of missing topics."""
    topics = enumerate(sorted(named_topics(instance)))
    return {topic: f"{prefix}-{rank:04d}" for rank, topic in topics}


def claims_of(member: Member, names: dict[str, str]) -> Partitions:
    """Return the claims of a member by the names on the broker."""
    owned = member.owned or {}
    return tuple(
        (names[topic], tuple(owned[topic])) for topic in sorted(owned) if owned[topic]
    )


def _generation(member: Member) -> int:
    return UNKNOWN_GENERATION if member.generation is None else member.generation


def _existing(instance: Rebalance, member: Member) -> list[str]:
    return [
        topic
        for topic in member.subscription
        if topic in instance.topics and instance.topics[topic].partitions
    ]


def _can_be_real(instance: Rebalance, member: Member, client: str) -> bool:
    """Return whether an ordinary consumer can send this, in the words of its client."""
    wants_all = len(_existing(instance, member)) == len(set(member.subscription))
    owned = {
        topic: numbers for topic, numbers in (member.owned or {}).items() if numbers
    }
    is_current = not owned or _generation(member) == newest_generation(instance)
    exists = all(
        topic in member.subscription
        and topic in instance.topics
        and max(numbers) < instance.topics[topic].partitions
        for topic, numbers in owned.items()
    )
    can_be_static = member.instance_id is None or client in STATIC_CLIENTS
    is_plain = member.rack is None and can_be_static
    return (
        bool(member.subscription) and wants_all and is_current and exists and is_plain
    )


def _owner(instance: Rebalance) -> str | None:
    """Return the only member with claims, if it owns all partitions that it reads."""
    claimants = [
        n for n, m in instance.members.items() if any((m.owned or {}).values())
    ]
    if len(claimants) != 1:
        return None
    member = instance.members[claimants[0]]
    wanted = {
        t: list(range(instance.topics[t].partitions)) for t in member.subscription
    }
    owned = {
        t: sorted(numbers) for t, numbers in (member.owned or {}).items() if numbers
    }
    return claimants[0] if owned == wanted else None


def _leader(instance: Rebalance, real: tuple[str, ...]) -> str:
    """Return a dynamic member with claims, if there is one: its generation is known."""

    def rank(name: str) -> tuple[bool, bool, str]:
        member = instance.members[name]
        return (
            member.instance_id is not None,
            not any((member.owned or {}).values()),
            name,
        )

    return min(real, key=rank)
