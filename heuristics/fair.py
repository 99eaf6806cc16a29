"""``fair``: greedy assignment and balancing, without stickiness (KIP-54, KIP-49)."""

from __future__ import annotations

import numpy as np

from heuristics.fairest_sticky import fairest_sticky
from heuristics.group_columns import Columns, columns_of
from rebalance import NOBODY, Assignment, Instance, Int32, kernel


class FairAssignor:
    """KIP-54's sticky assignor without stickiness.

    KIP-54 lists it among its alternatives: always start from an empty assignment.
    KIP-49 proposed it, without claims:

    1. topics with the fewest subscribers first, then by topic and number, each
       partition is assigned to the subscriber with the smallest load; ties: the least
       member id;
    2. in the same order, repeatedly, a partition whose holder has at least two
       partitions more than the least loaded subscriber moves there, until nothing
       moves.

    The result is KIP-54 balanced, because no single transfer improves balance. The
    second step is that of `StickyAssignor`, including partitions that return home.

    Known fault, kept: it does not find chains, so with heterogeneous subscriptions
    loads can be less balanced than possible, and it moves partitions needlessly.
    """

    name = "fair"

    def refuses(self, instance: Instance) -> str | None:  # noqa: ARG002
        """Refuse nothing."""
        return None

    def assign(self, instance: Instance) -> Assignment:
        """Assign greedily, then balance."""
        return Assignment(assignee=fair(columns_of(instance)))


@kernel
def fair(columns: Columns) -> Int32:
    """Assign as ``fairest-sticky`` does if there are no owners."""
    topic_offsets = columns[0]
    return fairest_sticky(columns, np.full(topic_offsets[-1], NOBODY, np.int32))
