"""Who has a large lag has company: the bound ``company``, for members all alike.

Let all m members in play have the same seats, capacity and limits, s be scale ÷
capacity and lo the least count of each over all topics. Let K be the partitions with
lag at least x, k1 >= k2 >= ... their lags, and write their number as (h - 1) · m + j
with h >= 2 and 1 <= j <= m. fill(n) is the sum of the n least lags not in K (of all of
them, if there are fewer; 0 for n <= 0). Then these bound the records of somebody::

    a  =  k[(m - j) · (h - 1) + 1]  +  the h - 1 least of K  +  fill(lo - h)
    b  =  the h + 1 least of K  +  fill(lo - h - 1)

and s · min(a, b) is a bound. It is true because either somebody holds h + 1 of K, hence
b; or all hold h at most, and then at least j hold h. Those who hold fewer hold
(m - j) · (h - 1) of K at most, so one of the first (m - j) · (h - 1) + 1 sits with
somebody who holds h: it and h - 1 others, hence a.
"""

from __future__ import annotations

import numpy as np

from rebalance.claims import Int64
from solver.peak_lag.kinds import alike_members, load_bounds_of
from solver.peak_lag.setting import Setting
from solver.peak_lag.terms import Crowd


def best_company(setting: Setting) -> Crowd | None:
    """Find the threshold that proves most, of all there are; None if there is none."""
    room = setting.room
    members, number = room.unit.size, room.lag.size
    if members < 2 or [len(alike) for alike in alike_members(room)] != [members]:
        return None
    lags = np.sort(room.lag)[::-1]
    sums = np.r_[0, np.cumsum(lags)]
    # Sizes of K: where the next lag is smaller, and more than one a member.
    size = np.flatnonzero(np.r_[np.diff(lags) != 0, True]) + 1
    size = size[size > members]
    if not size.size:
        return None
    low = int(room.least[load_bounds_of(room, 0)].sum())
    h = -(-size // members)
    j = size - (h - 1) * members

    def fill(n: Int64) -> Int64:
        first = np.maximum(size, number - np.maximum(n, 0))
        return np.asarray(sums[-1] - sums[first])

    above = lags[(members - j) * (h - 1)]
    a = above + sums[size] - sums[size - (h - 1)] + fill(low - h)
    b = sums[size] - sums[size - np.minimum(h + 1, size)] + fill(low - h - 1)
    found = np.minimum(a, b)
    best = int(found.argmax())
    return Crowd(
        at_least=int(lags[size[best] - 1]),
        bound=int(found[best]) * int(room.unit[0]),
        kind="company",
    )
