"""Figures of an assignment, counted in integers from the columns."""

from __future__ import annotations

import numpy as np

from rebalance.assignment import Assignment
from rebalance.claims import NOBODY, Int64
from rebalance.documents import Figures
from rebalance.instance import ABSENT, Instance


def figures_of(instance: Instance, assignment: Assignment) -> Figures:
    """Count loads, stickiness, Kafka's balance score, lag, and rack mismatches.

    Balance is not a count: ``solver`` proves it, and ``verify`` refutes or confirms it.
    """
    loads = np.sort(assignment.loads(instance))[::-1]
    kept = count_kept(instance, assignment)
    lags = member_lag(instance, assignment)
    # model_construct: our own integers need no validation.
    return Figures.model_construct(
        loads=loads.tolist(),
        kept=kept,
        moves=int(np.count_nonzero(instance.owner != NOBODY)) - kept,
        kip54_score=kip54_score(loads),
        peak_lag=int(lags.max(initial=0)),
        lag_spread=_lag_spread(lags[instance.in_play]),
        rack_mismatches=count_rack_mismatches(instance, assignment),
    )


def count_kept(instance: Instance, assignment: Assignment) -> int:
    """Count the owned partitions that stay with their owner."""
    owned = instance.owner != NOBODY
    return int(np.count_nonzero(owned & (instance.owner == assignment.assignee)))


def kip54_score(loads: Int64) -> int:
    """Return Kafka's balance score: the sum of load differences over pairs of members.

    Parameters
    ----------
    loads : int64 (M,)
        Largest first: the i-th largest is the larger one in M-1-i pairs and the
        smaller one in i of them.
    """
    m = loads.size
    weight = np.arange(m - 1, -m, -2, dtype=np.int64)
    return int((loads * weight).sum()) if m else 0


def member_lag(instance: Instance, assignment: Assignment) -> Int64:
    """Lag of each member, int64 (M,), records; without lag all are 0."""
    total = np.zeros(len(instance.members), dtype=np.int64)
    if instance.lag is not None:
        given = assignment.assignee != NOBODY
        np.add.at(total, assignment.assignee[given], instance.lag[given])
    return total


def _lag_spread(lags: Int64) -> int:
    """Return largest minus least lag of the members that can be assigned partitions."""
    return int(lags.max() - lags.min()) if lags.size else 0


def count_rack_mismatches(instance: Instance, assignment: Assignment) -> int:
    """Count partitions without a replica on their member's rack (KIP-881).

    A member without a rack and a partition with unknown racks never mismatch.
    """
    racks = instance.racks
    if racks is None:
        return 0
    replicas = np.diff(racks.offsets)
    given = (assignment.assignee != NOBODY) & (replicas > 0)
    seat = np.full(given.size, ABSENT, dtype=np.int32)
    seat[given] = racks.member[assignment.assignee[given]]
    partition = np.repeat(np.arange(given.size), replicas)
    near = np.zeros(given.size, dtype=np.bool_)
    near[partition[racks.replicas == seat[partition]]] = True
    return int(np.count_nonzero((seat != ABSENT) & ~near))
