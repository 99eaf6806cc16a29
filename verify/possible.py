"""Whether anything is allowed at all, where that can be counted.

A claim that nothing is comes without an assignment, so there is nothing to check but
the claim. Often counting is enough to tell.

Dec-min, per-topic and KIP-54's balance can always be met, and everything is allowed by
``none``, with no move: each owner subscribes to what it owns.

Budget. In a pool of a room (`verify.room`) whose partitions may sit on any of its
members, loads are between limits and add up to its partitions. A member keeps at most
what it owns and at most its load; so together they keep no more than each the least of
what it owns and its least load, and then one for each unit that is left over, as long
as somebody owns more and may hold more. If all pools are such, and limits are all there
is, that many are kept by some assignment: what is left is dealt to whoever lacks it.

Spread. Partitions that some members alone subscribe to are held by these: one of them
holds their share, by capacity, or more. And one of all in play holds no more than all
partitions' share; nor does a member hold more than it subscribes to. So the widest of
the first is no less than that, the narrowest no more than this.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from verify.case import Case
from verify.objectives import common_capacity
from verify.policy import Policy
from verify.prices import count_owned
from verify.room import Pool, room_of, served

GROUPS_MAX = 200
"""Sets of subscribers whose shares are looked at, the smallest first."""

Reason = dict[str, Any]


def judge_impossible(case: Case, policy: Policy) -> Reason:
    """Return whether a claim that nothing is allowed is ``proved``, or ``refuted``.

    Returns
    -------
    dict
        One of the two as true, and ``because`` of what; nothing if it is not known.
    """
    if policy.balance == "spread":
        width = least_width(case)
        asked = (policy.most or 0) * common_capacity(case)
        if width <= asked:
            return {}
        scale = common_capacity(case)
        told = {"scale": scale} if scale != 1 else {}
        return {"proved": True, "because": {"spread": width, **told}}
    if policy.max_moves is None:
        return {"refuted": True, "because": {"balance": policy.balance}}
    moves = fewest_moves(case, policy.balance)
    if moves is None:
        return {}
    is_true = moves > policy.max_moves
    return {"proved" if is_true else "refuted": True, "because": {"moves": moves}}


def fewest_moves(case: Case, balance: str) -> int | None:
    """Count how many moves a balance takes at the least; None if that takes more."""
    if balance == "none":
        return 0
    room = room_of(case, balance)
    if room.is_open:
        return None
    return count_owned(case) - sum(_kept(case, pool) for pool in room.pools)


def least_width(case: Case) -> int:
    """Return what no spread is below, in units of 1 / common capacity."""
    common, capacity = common_capacity(case), case.capacity
    if not case.in_play:
        return 0
    units: Counter[frozenset[str]] = Counter()
    for topic in served(case):
        units[frozenset(case.subscribers[topic])] += case.partitions[topic]
    widest = 0
    for group in sorted(units, key=len)[:GROUPS_MAX]:
        inside = sum(number for some, number in units.items() if some <= group)
        widest = max(widest, -(-common * inside // sum(capacity[m] for m in group)))
    together = sum(capacity[name] for name in case.in_play)
    narrowest = common * units.total() // together
    reach: dict[frozenset[str], int] = {}
    for name in case.in_play:
        wanted = case.wants[name]
        if wanted not in reach:
            reach[wanted] = sum(map(case.partitions.__getitem__, wanted))
        narrowest = min(narrowest, reach[wanted] * (common // capacity[name]))
    return max(0, widest - narrowest)


def _kept(case: Case, pool: Pool) -> int:
    """Return how many partitions of a pool can stay with their owners."""
    sure = more = 0
    for name, (least, most) in pool.limits.items():
        own = sum(len(case.owned.get((name, topic), ())) for topic in pool.topics)
        sure += min(own, least)
        more += min(own, most) - min(own, least)
    left = pool.units - sum(least for least, _ in pool.limits.values())
    return sure + min(left, more)
