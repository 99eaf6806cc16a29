"""Messages between members and coordinator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

NO_GENERATION = -1

Partition = tuple[str, int]
Partitions = frozenset[Partition]
NOTHING: Partitions = frozenset()


class Refusal(Enum):
    """Errors of the protocol, by Kafka's names."""

    UNKNOWN_MEMBER_ID = "the coordinator dropped this member"
    ILLEGAL_GENERATION = "the group went on without this member"
    REBALANCE_IN_PROGRESS = "join again"
    FENCED_INSTANCE_ID = "another process took this instance id"
    INCONSISTENT_GROUP_PROTOCOL = "no assignor in common with the group"


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinMetadata:
    """Metadata of a JoinGroup (KIP-429, version 2 and later: with generation, KIP-792).

    Attributes
    ----------
    topics : frozenset of str
    owned : frozenset of (topic, number)
        Partitions that it holds when it joins; none under EAGER.
    generation : int
        Newest generation in which the member took part; -1: none.
    strategies : tuple of str
        Names of its assignors, in order of preference.
    instance_id : str or None
        ``group.instance.id`` of a static member (KIP-345).
    remembered : frozenset of (topic, number)
        User data of KIP-54: the process's last assignment, even if it was lost since.
    remembered_generation : int
        Generation of that assignment (KIP-341); -1: none.
    """

    topics: frozenset[str]
    strategies: tuple[str, ...]
    owned: Partitions = frozenset()
    generation: int = NO_GENERATION
    instance_id: str | None = None
    remembered: Partitions = frozenset()
    remembered_generation: int = NO_GENERATION


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinResponse:
    """JoinGroup's answer; ``members`` is empty except for a leader that must assign."""

    generation: int
    strategy: str
    leader: str
    members: Mapping[str, JoinMetadata] = field(default_factory=dict)
