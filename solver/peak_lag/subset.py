"""The members who together must hold most: the densest set, by maximum flow.

If a set of topics has all its seats within a set of members, these members share that
lag among them. The worst such set makes the peak of the linear relaxation without
limits of counts. Start with everybody; ask for a flow of lag in which nobody is above
the peak so far; the topics that a minimum cut leaves on the source side, with all who
may take them, are worse; repeat. Each round is Dinkelbach's step, so there are few.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from ortools.graph.python import max_flow

from rebalance.claims import Int64
from solver.peak_lag.setting import Setting
from solver.peak_lag.terms import average

_SUM_MAX = 2**61  # flows are added up in 64 bits
_ROUNDS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Subset:
    """Members in play and what their share of lag proves."""

    bound: int
    members: Int64


def densest(setting: Setting) -> Subset | None:
    """Find the worst set of members; None if that is all of them."""
    room = setting.room
    if room.first.size <= 2:
        return None
    topics = room.topic_first.size - 1
    lag = np.zeros(topics, np.int64)
    np.add.at(lag, room.topic, room.lag)
    weights = setting.scale // room.unit
    people = np.zeros(room.first.size - 1, np.int64)
    np.add.at(people, room.member_class, weights)
    if int(lag.sum()) * setting.scale >= _SUM_MAX:
        return None
    found: Subset | None = None
    bound = average(setting)
    for _ in range(_ROUNDS):
        inside = _over(setting, lag, people, bound)
        if not inside.any():
            break
        classes = np.zeros(people.size, np.bool_)
        listed = np.repeat(np.arange(topics), np.diff(room.topic_first))
        classes[room.topic_classes[inside[listed]]] = True
        held = int(lag[inside].sum()) * setting.scale
        better = -(-held // int(people[classes].sum()))
        if better <= bound:
            break
        bound = better
        members = np.flatnonzero(classes[room.member_class])
        found = Subset(bound=bound, members=members)
    return found


def _over(setting: Setting, lag: Int64, people: Int64, bound: int) -> np.ndarray:
    """Return the topics whose takers cannot hold them within a peak, bool (T,)."""
    room = setting.room
    topics, classes = lag.size, people.size
    source, sink = topics + classes, topics + classes + 1
    heavy = int(lag.sum()) * setting.scale
    listed = np.repeat(np.arange(topics), np.diff(room.topic_first))
    most = [min(bound * w, heavy) for w in people.tolist()]
    flow = max_flow.SimpleMaxFlow()
    flow.add_arcs_with_capacity(
        np.r_[np.full(topics, source), listed, topics + np.arange(classes)].astype(
            np.int32
        ),
        np.r_[
            np.arange(topics), topics + room.topic_classes, np.full(classes, sink)
        ].astype(np.int32),
        np.r_[lag * setting.scale, np.full(listed.size, heavy), np.array(most)],
    )
    flow.solve(source, sink)
    inside = np.zeros(topics, np.bool_)
    side = np.array(flow.get_source_side_min_cut(), np.int64)
    inside[side[side < topics]] = True
    return inside
