"""Instance: one rebalance as read-only numpy columns.

One object per instance, none per partition. Topics and members are sorted by name, so
the order of keys in a document does not affect a result.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rebalance.claims import Bools, ClaimRule, Claims, Int32, Int64
from rebalance.display import html_table
from rebalance.errors import InstanceError

ABSENT = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Racks:
    """Racks of members and replicas (KIP-881).

    Attributes
    ----------
    names : tuple of str, (R,)
        Sorted names of the racks.
    member : int32 (M,)
        Rack of each member; -1: none.
    offsets : int64 (P+1,)
        Partition p has replicas in ``replicas[offsets[p]:offsets[p+1]]``.
    replicas : int32
        Racks of the replicas, ascending within a partition.
    """

    names: tuple[str, ...]
    member: Int32
    offsets: Int64
    replicas: Int32


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """The input of one rebalance, with resolved owners.

    Members with equal subscriptions share a *subscription class*; a class lists only
    topics that exist. T topics, P partitions, M members, K classes.

    Attributes
    ----------
    topics : tuple of str, (T,)
        Sorted.
    topic_offsets : int64 (T+1,)
        Topic t has the rows ``topic_offsets[t]:topic_offsets[t+1]``; number n of it is
        row ``topic_offsets[t] + n``.
    members : tuple of str, (M,)
        Sorted.
    member_class : int32 (M,)
    class_offsets : int64 (K+1,)
    class_topics : int32
        Topics of class k, ascending, at ``class_offsets[k]:class_offsets[k+1]``.
    claims : Claims
    claim_rule : ClaimRule
    lag : int64 (P,), records, or None if the instance states no lag
    capacity : int64 (M,), at least 1, or None if no member states one
    racks : Racks or None
    instance_ids : tuple of str or None, (M,)
        ``group.instance.id`` of static members (KIP-345).
    partition_topic : int32 (P,)
        Derived.
    owner : int32 (P,)
        Derived: the member whose claim is accepted, or -1.
    """

    group: str
    id: str | None = None
    topics: tuple[str, ...]
    topic_offsets: Int64
    members: tuple[str, ...]
    member_class: Int32
    class_offsets: Int64
    class_topics: Int32
    claims: Claims
    claim_rule: ClaimRule = ClaimRule.NEWEST_CLAIM
    lag: Int64 | None = None
    capacity: Int64 | None = None
    racks: Racks | None = None
    instance_ids: tuple[str | None, ...] = ()
    partition_topic: Int32 = field(init=False)
    owner: Int32 = field(init=False)

    def __post_init__(self) -> None:
        """Reject inconsistent columns; derive topics and owners."""
        _check_names(self.topics, "topics")
        _check_names(self.members, "members")
        _check_shapes(self)
        sizes = self.topic_offsets[1:] - self.topic_offsets[:-1]
        topic = np.arange(sizes.size, dtype=np.int32).repeat(sizes)
        object.__setattr__(self, "partition_topic", topic)
        for column in (topic, *_given_columns(self)):
            column.setflags(write=False)
        # Imported here: documents are read without compiled kernels.
        from rebalance.ownership import owners  # noqa: PLC0415

        owner = owners(self)
        owner.setflags(write=False)
        object.__setattr__(self, "owner", owner)
        if not self.instance_ids:
            object.__setattr__(self, "instance_ids", (None,) * len(self.members))

    @classmethod
    def of_columns(cls, **fields: object) -> Instance:
        """Make an instance of all fields, the derived ones too, without any check.

        Its columns are made read-only.
        """
        instance = object.__new__(cls)
        for name, value in fields.items():
            object.__setattr__(instance, name, value)
        for column in (
            instance.partition_topic,
            instance.owner,
            *_given_columns(instance),
        ):
            column.setflags(write=False)
        return instance

    def _repr_html_(self) -> str:
        """Show the members in a notebook: topics, owned partitions, and their lag."""
        held = self.owner >= 0
        columns = {
            "topics": np.diff(self.class_offsets)[self.member_class],
            "owned": np.bincount(self.owner[held], minlength=len(self.members)),
        }
        if self.lag is not None:
            columns["lag"] = np.zeros(len(self.members), dtype=np.int64)
            np.add.at(columns["lag"], self.owner[held], self.lag[held])
        caption = (
            f"{self.group}: {self.n_partitions:,} partitions of {len(self.topics):,} "
            f"topics, {len(self.members):,} members"
        )
        rows = zip(
            self.members, *(column.tolist() for column in columns.values()), strict=True
        )
        head = ["member", *columns]
        return html_table(caption, head, rows, count=len(self.members))

    @property
    def n_partitions(self) -> int:
        """Number of partitions over all topics."""
        return int(self.topic_offsets[-1])

    @property
    def topic_sizes(self) -> Int64:
        """Partitions of each topic, int64 (T,)."""
        return np.diff(self.topic_offsets)

    @property
    def class_sizes(self) -> Int64:
        """Members of each subscription class, int64 (K,)."""
        return np.bincount(self.member_class, minlength=self.n_classes)

    @property
    def n_classes(self) -> int:
        """Number of subscription classes."""
        return self.class_offsets.size - 1

    def topics_of(self, member: int) -> Int32:
        """Topics that a member subscribes to and that exist, ascending."""
        k = self.member_class[member]
        return self.class_topics[self.class_offsets[k] : self.class_offsets[k + 1]]

    @property
    def in_play(self) -> Bools:
        """Whether the member subscribes to a topic that has partitions, bool (M,)."""
        full = self.topic_sizes[self.class_topics] > 0
        found = np.r_[0, np.cumsum(full)]
        some = np.diff(found[self.class_offsets]) > 0
        return np.asarray(some[self.member_class])

    @property
    def topic_subscribed(self) -> Bools:
        """Whether any member subscribes to the topic, bool (T,)."""
        subscribed = np.zeros(len(self.topics), dtype=np.bool_)
        present = self.class_sizes > 0
        listed = np.repeat(present, np.diff(self.class_offsets))
        subscribed[self.class_topics[listed]] = True
        return subscribed


def _given_columns(instance: Instance) -> list[NDArray[np.generic]]:
    claims = instance.claims
    columns: list[NDArray[np.generic]] = [
        instance.topic_offsets,
        instance.member_class,
        instance.class_offsets,
        instance.class_topics,
        claims.offsets,
        claims.partitions,
        claims.generation,
    ]
    columns += [c for c in (instance.lag, instance.capacity) if c is not None]
    if instance.racks is not None:
        racks = instance.racks
        columns += [racks.member, racks.offsets, racks.replicas]
    return columns


def _check_names(names: tuple[str, ...], subject: str) -> None:
    # One comparison per pair of neighbors.
    for left, right in pairwise(names):
        if left >= right:
            raise InstanceError(f"{subject} not sorted, or repeated", subject=right)


def _check_shapes(instance: Instance) -> None:
    """Reject columns of the wrong length or with indices out of range."""
    t, m = len(instance.topics), len(instance.members)
    p, k = instance.n_partitions, instance.n_classes
    claims = instance.claims
    _check_offsets(instance.topic_offsets, t + 1, None, "topic_offsets")
    _check_offsets(
        instance.class_offsets, k + 1, instance.class_topics.size, "class_offsets"
    )
    _check_offsets(claims.offsets, m + 1, claims.partitions.size, "claims.offsets")
    _check_indices(instance.member_class, m, k, "member_class")
    _check_indices(instance.class_topics, None, t, "class_topics")
    _check_indices(claims.partitions, None, p, "claims.partitions")
    _check_length(claims.generation, m, "claims.generation")
    if instance.lag is not None:
        _check_length(instance.lag, p, "lag")
        if np.count_nonzero(instance.lag < 0):
            raise InstanceError("lag below 0", subject=int(instance.lag.argmin()))
    if instance.capacity is not None:
        _check_length(instance.capacity, m, "capacity")
        if np.count_nonzero(instance.capacity < 1):
            raise InstanceError("capacity below 1", subject="capacity")
    if instance.racks is not None:
        _check_length(instance.racks.member, m, "racks.member")
        _check_offsets(
            instance.racks.offsets, p + 1, instance.racks.replicas.size, "racks.offsets"
        )
    if instance.instance_ids and len(instance.instance_ids) != m:
        raise InstanceError("not one per member", subject="instance_ids")


def _check_length(column: NDArray[np.generic], length: int, subject: str) -> None:
    if column.shape != (length,):
        reason = f"shape {column.shape}, expected ({length},)"
        raise InstanceError(reason, subject=subject)


def _check_offsets(column: Int64, length: int, last: int | None, subject: str) -> None:
    _check_length(column, length, subject)
    wrong_end = last is not None and column[-1] != last
    if column[0] != 0 or wrong_end or np.count_nonzero(column[1:] < column[:-1]):
        raise InstanceError("offsets do not ascend from 0 to the end", subject=subject)


def _check_indices(column: Int32, length: int | None, bound: int, subject: str) -> None:
    if length is not None:
        _check_length(column, length, subject)
    if np.count_nonzero((column < 0) | (column >= bound)):
        raise InstanceError(f"index outside 0..{bound - 1}", subject=subject)
