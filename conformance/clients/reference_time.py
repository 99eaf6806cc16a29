"""CPU time that our own sticky needs for a size: the measure of a hang.

It is the assignor of ours that does most of the work of other people's, from claims to
a balance. Sizes are rounded up to powers of two, and each is measured once per process,
on a rebalance that depends on the size alone.
"""

from __future__ import annotations

import time
from functools import cache
from typing import Any, NamedTuple

from rebalance import Instance, Rebalance, instance_of, rebalance_of


class RebalanceSize(NamedTuple):
    """How large a rebalance is."""

    members: int
    partitions: int

    def __str__(self) -> str:
        members = "1 member" if self.members == 1 else f"{self.members:,} members"
        if self.partitions == 1:
            return f"{members}, 1 partition"
        return f"{members}, {self.partitions:,} partitions"


def size_of(rebalance: dict[str, Any]) -> RebalanceSize:
    """Return the size of a ``rebalance/1`` document."""
    partitions = sum(topic["partitions"] for topic in rebalance["topics"].values())
    return RebalanceSize(len(rebalance["members"]), partitions)


def size_of_document(rebalance: Rebalance) -> RebalanceSize:
    """Return the size of a document that has been read."""
    partitions = sum(topic.partitions for topic in rebalance.topics.values())
    return RebalanceSize(len(rebalance.members), partitions)


def reference_seconds(size: RebalanceSize) -> float:
    """Return the CPU time of our sticky for a rebalance of at least this size."""
    return _measured(*map(_power_of_two, size))


def sized_rebalance(size: RebalanceSize) -> dict[str, Any]:
    """Return a rebalance of this size, with the properties that make one expensive.

    Every second member subscribes to one of the two topics only, and the tenth of the
    members that has just joined owns nothing of the topic that the others share.
    """
    names = [f"m{number:07}" for number in range(size.members)]
    both, first = ["t", "u"], ["t"]
    members: dict[str, dict[str, Any]] = {
        name: {"subscription": both if i % 2 else first, "owned": {}, "generation": 1}
        for i, name in enumerate(names)
    }
    shared = size.partitions - size.partitions // 2
    owners = names[: size.members - size.members // 10]
    for number in range(shared if owners else 0):
        owned = members[owners[number % len(owners)]]["owned"]
        owned.setdefault("t", []).append(number)
    topics = {"t": {"partitions": shared}, "u": {"partitions": size.partitions // 2}}
    document = {"format": "rebalance/1", "group": "reference"}
    return document | {"topics": topics, "members": members}


def _power_of_two(number: int) -> int:
    return 1 << max(0, number - 1).bit_length()


@cache
def _measured(members: int, partitions: int) -> float:
    from heuristics import ASSIGNORS  # noqa: PLC0415 - only if a program is slow

    sticky = ASSIGNORS["sticky"]
    sticky.assign(
        _instance(RebalanceSize(2, 2))
    )  # its kernels are compiled or loaded once
    instance = _instance(RebalanceSize(members, partitions))
    start = time.thread_time()
    sticky.assign(instance)
    return time.thread_time() - start


def _instance(size: RebalanceSize) -> Instance:
    return instance_of(rebalance_of(sized_rebalance(size)))
