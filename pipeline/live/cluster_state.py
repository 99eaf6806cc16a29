"""Groups and topics at one moment, as the Admin API reports them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from pipeline.cases import Held

Offsets: TypeAlias = dict[str, dict[int, int]]
"""Topic, partition → offset; absent: none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberState:
    """A member: ``subscription`` is None if the broker does not report it.

    ``pattern`` is a subscription by regular expression (KIP-848). ``target`` is the
    assignment that the member will have; for a classic group, the one that it has.
    """

    member_id: str
    subscription: tuple[str, ...] | None
    held: Held
    target: Held
    pattern: str | None = None
    instance_id: str | None = None
    rack: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveGroup:
    """A group with its members, and its committed offsets by topic and partition.

    ``protocol`` is ``classic`` or ``consumer`` (KIP-848); ``assignor`` is the common
    assignor of a classic group, or the server assignor. ``committed`` is None if the
    offsets cannot be read.
    """

    group_id: str
    protocol: str
    state: str
    assignor: str | None
    members: tuple[MemberState, ...]
    committed: Offsets | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicState:
    """A topic: racks of the replicas and log ends, by partition.

    ``racks`` is None if a broker has no rack, ``ends`` (earliest, latest) if the
    broker does not report them.
    """

    partitions: int
    racks: tuple[tuple[str, ...], ...] | None = None
    ends: tuple[tuple[int, int], ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreported:
    """A group that was asked for or is in use, but was not reported, and why."""

    group_id: str
    reason: str


Topics: TypeAlias = dict[str, TopicState]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterState:
    """Groups by name, topics that they use, and groups that were not reported.

    ``names`` are those of all topics that consumers can subscribe to by pattern.
    ``notes`` state which offsets could not be read, and why.
    """

    groups: tuple[LiveGroup, ...]
    topics: Topics
    unreported: tuple[Unreported, ...] = ()
    names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
