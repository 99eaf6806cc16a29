"""An instance as moves and balance see it: how many of a topic, not which.

Partitions of one topic differ only in their owner. So a plan says how many of topic t
member c has; of those it keeps as many as it can of its own. Real numbers come back
when a plan is handed out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rebalance import Assignment, Instance
from rebalance.claims import NOBODY

Pair = tuple[int, int]
"""Topic and member, as the instance numbers them."""

Plan = Mapping[Pair, int]
"""Partitions of the topic that the member has; absent pairs have none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What there is to give, who may take it, and who has it.

    Attributes
    ----------
    members : int
        All members of the group; KIP-54's score counts those without topics, too.
    supply : mapping of topic to partitions
        Of topics that have partitions and a subscriber, ascending.
    takers : mapping of topic to members
        Its subscribers, ascending.
    own : mapping of pair to partitions
        Owned ones alone.
    """

    members: int
    supply: Mapping[int, int]
    takers: Mapping[int, tuple[int, ...]]
    own: Mapping[Pair, int]

    @property
    def partitions(self) -> int:
        """Partitions that somebody subscribes to."""
        return sum(self.supply.values())

    @property
    def owned(self) -> int:
        """Partitions that have an owner."""
        return sum(self.own.values())

    @property
    def pairs(self) -> list[Pair]:
        """Every topic with each of its subscribers, in order."""
        return [(topic, c) for topic, takers in self.takers.items() for c in takers]

    def loads(self, plan: Plan) -> list[int]:
        """Return partitions of each member."""
        loads = [0] * self.members
        for (_, member), amount in plan.items():
            loads[member] += amount
        return loads

    def moves(self, plan: Plan) -> int:
        """Count the owned partitions that do not stay."""
        return sum(max(0, n - plan.get(pair, 0)) for pair, n in self.own.items())


def counts_of(instance: Instance) -> Counts:
    """Count an instance."""
    takers: dict[int, list[int]] = {}
    for member in range(len(instance.members)):
        for topic in instance.topics_of(member).tolist():
            takers.setdefault(topic, []).append(member)
    sizes = instance.topic_sizes.tolist()
    reduced = sorted(topic for topic in takers if sizes[topic])
    owned = instance.owner != NOBODY
    pairs = zip(
        instance.partition_topic[owned].tolist(),
        instance.owner[owned].tolist(),
        strict=True,
    )
    return Counts(
        members=len(instance.members),
        supply={topic: sizes[topic] for topic in reduced},
        takers={topic: tuple(takers[topic]) for topic in reduced},
        own=dict(sorted(Counter(pairs).items())),
    )


def plan_of(instance: Instance, assignment: Assignment) -> Plan:
    """Count an assignment."""
    given = assignment.assignee != NOBODY
    pairs = zip(
        instance.partition_topic[given].tolist(),
        assignment.assignee[given].tolist(),
        strict=True,
    )
    return dict(sorted(Counter(pairs).items()))


def materialize(instance: Instance, counts: Counts, plan: Plan) -> Assignment:
    """Give every partition to a member: owners keep their lowest numbers.

    What is left of a topic goes to those that have room, in order.
    """
    assignee = np.full(instance.n_partitions, NOBODY, dtype=np.int32)
    for topic, takers in counts.takers.items():
        room = {c: plan.get((topic, c), 0) for c in takers}
        start, end = instance.topic_offsets[topic : topic + 2].tolist()
        for p in range(start, end):
            owner = int(instance.owner[p])
            if room.get(owner, 0):
                room[owner] -= 1
                assignee[p] = owner
        left = iter([c for c in takers for _ in range(room[c])])
        for p in range(start, end):
            if assignee[p] == NOBODY:
                assignee[p] = next(left)
    return Assignment(assignee=assignee)
