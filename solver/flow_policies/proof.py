"""What moves and mismatches cost at least on a face, by prices: from the columns.

The engine checks its own answer with this before it says ``optimal``; the judge does
the same from the documents, with code of its own (``verify``).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from rebalance import Assignment, Instance
from rebalance.claims import NOBODY, Int32, Int64
from rebalance.instance import ABSENT
from solver.exact import OUTSIDE, OptimalFace, load_bounds_of, load_value, prove
from solver.flow_policies.kinds import Places
from solver.flow_policies.levels import Weights
from solver.result import Certificate

_NOWHERE = np.int64(2**62)


def is_proved(
    instance: Instance,
    places: Places,
    face: OptimalFace,
    assignment: Assignment,
    certificate: Certificate,
    weights: Weights,
    cost: int,
) -> bool:
    """Tell whether a certificate proves balance, and that nothing costs less."""
    if not prove(instance, assignment, certificate).balanced:
        return False
    price = certificate.price.astype(np.int64)
    cheapest = _cheapest_doors(
        instance.member_class,
        instance.class_offsets,
        instance.class_topics,
        face,
        places,
        price,
    )
    least = _least_total(
        instance.owner, instance.topic_offsets, face, places, price, cheapest, weights
    )
    limits = load_bounds_of(instance, certificate)
    value = load_value(limits, price, assignment.loads(instance))
    return bool(least - value == cost)


@njit(cache=True)
def _cheapest_doors(
    member_class: Int32,
    class_offsets: Int64,
    class_topics: Int32,
    face: OptimalFace,
    places: Places,
    price: Int64,
) -> Int64:
    """Return the least price by topic and rack, members without rack last."""
    place, floor = face.place, face.floor
    cheapest = np.full((floor.size, places.racks + 1), _NOWHERE, np.int64)
    for m in range(member_class.size):
        k = member_class[m]
        slot = places.racks if places.seat[m] == ABSENT else places.seat[m]
        for t in class_topics[class_offsets[k] : class_offsets[k + 1]]:
            if place[m] != OUTSIDE and place[m] == floor[t]:
                cheapest[t, slot] = min(cheapest[t, slot], price[m])
    return cheapest


@njit(cache=True)
def _least_total(
    owner: Int32,
    topic_offsets: Int64,
    face: OptimalFace,
    places: Places,
    price: Int64,
    cheapest: Int64,
    weights: Weights,
) -> int:
    """Add up over partitions the cheapest seat of each, price included."""
    seat, mask, racks = places.seat, places.mask, places.racks
    total = 0
    for t in range(face.floor.size):
        if face.floor[t] == OUTSIDE:
            continue
        hall = cheapest[t].min()
        for p in range(topic_offsets[t], topic_offsets[t + 1]):
            charge = weights.mismatch if places.known[p] else 0
            best = hall + charge
            if places.known[p]:
                best = min(best, cheapest[t, racks])
                for slot in range(racks):
                    if (mask[p] >> slot) & 1:
                        best = min(best, cheapest[t, slot])
            o = owner[p]
            if o != NOBODY:
                best += weights.move
                if face.place[o] == face.floor[t]:
                    near = seat[o] == ABSENT or (mask[p] >> seat[o]) & 1
                    best = min(best, price[o] + (0 if near else charge))
            total += best
    return total
