"""Topics to members to a sink: plans as flows, whatever a move or a load costs.

What a member owns of a topic has an arc of its own, beside one for all it may take: so
what is kept may cost less than what moves. Several arcs lead from each member to the
sink, one on each *rung*: so a load may cost more the higher it is.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from rebalance.claims import Int64
from solver.flow_policies import min_cost_flow as flow_of
from solver.pareto.counts import Counts, Pair


class Network:
    """The arcs; on the rungs there is no room, and nothing costs, until it is set.

    Attributes
    ----------
    pairs : list of Pair
        Of the arcs to members: the owned ones first, then all.
    owned : int
        How many are of what members own; the rest of ``pairs`` are of all.
    room, cost : int64 (A,)
        Of each arc, to be set in place: those of ``pairs``, then rung after rung, by
        member.
    """

    def __init__(self, counts: Counts, rungs: int) -> None:
        topics = {topic: place for place, topic in enumerate(counts.supply)}
        first, sink = len(topics), len(topics) + counts.members
        self.pairs: Final[list[Pair]] = [*counts.own, *counts.pairs]
        self.owned: Final = len(counts.own)
        self._members: Final = counts.members
        rooms = [*counts.own.values(), *(counts.supply[t] for t, _ in counts.pairs)]
        given = [
            (topics[topic], first + c, room, 0)
            for (topic, c), room in zip(self.pairs, rooms, strict=True)
        ]
        reached = [(first + c, sink, 0, 0) for c in range(counts.members)] * rungs
        columns = np.array([*given, *reached], np.int64).reshape(-1, 4)
        self._arcs: Int64 = columns.T.copy()
        self.room: Int64 = self._arcs[2]
        self.cost: Int64 = self._arcs[3]
        supply = [*counts.supply.values(), *[0] * counts.members, -counts.partitions]
        self._supply = np.array(supply, np.int64)

    @property
    def rungs(self) -> slice:
        """Where the arcs to the sink are."""
        return slice(len(self.pairs), None)

    def rung(self, number: int) -> slice:
        """Return where the arcs of one rung are, counted from 0."""
        start = len(self.pairs) + number * self._members
        return slice(start, start + self._members)

    def flow(self) -> Int64 | None:
        """Return a cheapest flow, int64 (A,); None if the library cannot say."""
        found = flow_of(self._arcs, self._supply)
        return found if found.size == self._arcs.shape[1] else None
