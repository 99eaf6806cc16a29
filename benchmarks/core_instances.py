"""Instances for timing the exact core, built from a seed as columns."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from rebalance import Claims, Instance

SEED = 7


def equal(*, members: int, partitions: int, topics: int, joined: int) -> Instance:
    """Build a group whose members all subscribe to all topics.

    All members except the ``joined`` own equal shares, drawn at random. Owners that
    depend on the partition number, such as ``p % n``, make Java's assignors slower and
    ours faster than in real groups.
    """
    shares = np.arange(partitions) % (members - joined)
    owner = np.random.default_rng(SEED).permutation(shares)
    return _instance(
        owner=owner,
        members=members,
        topics=topics,
        member_class=np.zeros(members, dtype=np.int32),
        wanted=[np.arange(topics, dtype=np.int32)],
    )


def one_left(*, members: int, partitions: int) -> Instance:
    """Build a group with one partition per member, plus that of a departed member."""
    owner = np.arange(partitions)
    owner[owner == members] = -1
    return _instance(
        owner=owner,
        members=members,
        topics=1,
        member_class=np.zeros(members, dtype=np.int32),
        wanted=[np.zeros(1, dtype=np.int32)],
    )


def mixed(*, members: int, partitions: int, topics: int, each: int) -> Instance:
    """Build a group in which every member subscribes to ``each`` random topics.

    The owner of each partition is drawn among its subscribers; then 1 % of the members
    lose their claims.
    """
    rng = np.random.default_rng(SEED)
    wanted = [
        np.sort(rng.choice(topics, each, replace=False)).astype(np.int32)
        for _ in range(members)
    ]
    listed = np.concatenate(wanted)
    order = np.argsort(listed, kind="stable")
    subscribers = np.bincount(listed, minlength=topics)
    first = np.cumsum(subscribers) - subscribers
    topic = np.repeat(np.arange(topics), partitions // topics)
    drawn = (rng.random(topic.size) * subscribers[topic]).astype(np.int64)
    owner = np.full(topic.size, -1)
    served = subscribers[topic] > 0
    owner[served] = (order // each)[(first[topic] + drawn)[served]]
    gone = rng.choice(members, max(1, members // 100), replace=False)
    owner[np.isin(owner, gone)] = -1
    return _instance(
        owner=owner,
        members=members,
        topics=topics,
        member_class=np.arange(members, dtype=np.int32),
        wanted=wanted,
    )


def spine_and_block(n: int) -> Instance:
    """Build a long chain of members, of which the first also feeds a dense block.

    Member i of the spine, 0 ≤ i < n, owns topic s_i, of n - 1 - i partitions, to which
    member i + 1 subscribes, too, and a topic of its own: q = n + 1 partitions if i = 0,
    otherwise those up to q - 1 in all. The n members of the block subscribe to the same
    q topics of n partitions each, of each of which every one owns one; the first also
    subscribes to s_0. So member 0 has n - 1 partitions too many, and each goes one
    member further along the spine, through topics that the whole block is beside.
    """
    q, spine = n + 1, np.arange(n - 1)
    own = np.r_[q, np.arange(2, n + 1)]
    sizes = np.r_[n - 1 - spine, own, np.full(q, n)]
    owners = [np.repeat(spine, n - 1 - spine), np.repeat(np.arange(n), own)]
    owners.append(np.tile(n + np.arange(n), q))
    block = 2 * n - 1 + np.arange(q)
    wanted = [
        np.unique([max(i - 1, 0), min(i, n - 2), n - 1 + i]).astype(np.int32)
        for i in range(n)
    ]
    wanted += [np.r_[0, block].astype(np.int32), block.astype(np.int32)]
    return _instance(
        owner=np.concatenate(owners),
        members=2 * n,
        topics=sizes.size,
        member_class=np.minimum(np.arange(2 * n), n + 1).astype(np.int32),
        wanted=wanted,
        sizes=sizes,
    )


CASES: dict[str, tuple[str, Callable[[], Instance]]] = {
    "S1": (
        "2,100 x 2,100, equal subscriptions, one left",
        lambda: one_left(members=2100, partitions=2101),
    ),
    "S2": (
        "2,000 x 1,000,000, equal subscriptions, 20 joined",
        lambda: equal(members=2000, partitions=1_000_000, topics=1000, joined=20),
    ),
    "S3": (
        "1,000 x 10,000, 20 of 1,000 topics each, 1 % gone",
        lambda: mixed(members=1000, partitions=10_000, topics=1000, each=20),
    ),
    "S5": (
        "2,100 x 2,100, 105 of 210 topics each, 1 % gone",
        lambda: mixed(members=2100, partitions=2100, topics=210, each=105),
    ),
    "L1": (
        "10,000 x 1,000,000, 50 of 5,000 topics each, 1 % gone",
        lambda: mixed(members=10_000, partitions=1_000_000, topics=5000, each=50),
    ),
}


GROWING: dict[str, tuple[str, Callable[[], Instance]]] = {
    f"B{n}": (f"spine and block of {n:,}", partial(spine_and_block, n))
    for n in (400, 800, 1600)
}
"""Three sizes of a family, by which the growth of the time is seen."""


def _instance(
    *,
    owner: NDArray[np.int64],
    members: int,
    topics: int,
    member_class: NDArray[np.int32],
    wanted: list[NDArray[np.int32]],
    sizes: NDArray[np.int64] | None = None,
) -> Instance:
    """Build an instance; without ``sizes``, all topics have equally many partitions."""
    offsets = np.linspace(0, owner.size, topics + 1).astype(np.int64)
    if sizes is not None:
        offsets = np.r_[0, np.cumsum(sizes)].astype(np.int64)
    claimed = np.flatnonzero(owner >= 0)
    claimed = claimed[np.argsort(owner[claimed], kind="stable")]
    counts = np.bincount(owner[claimed], minlength=members)
    return Instance(
        group="benchmark",
        topics=tuple(f"t{i:06}" for i in range(topics)),
        topic_offsets=offsets,
        members=tuple(f"m{i:06}" for i in range(members)),
        member_class=member_class,
        class_offsets=np.r_[0, np.cumsum([w.size for w in wanted])].astype(np.int64),
        class_topics=np.concatenate(wanted),
        claims=Claims(
            offsets=np.r_[0, np.cumsum(counts)].astype(np.int64),
            partitions=claimed.astype(np.int32),
            generation=np.ones(members, dtype=np.int64),
        ),
    )
