"""Whether any assignment is allowed, where counting decides it.

Dec-min, per-topic and KIP-54 balance can always be met, and ``none`` allows everything,
with no move: each owner subscribes to what it owns.

Budget. In a pool of a region (`verify.policy.feasible_region`) whose members are all
eligible for its partitions, loads are within limits and add up to its partitions. A
member keeps at most what it owns and at most its load; so together they keep no more
than the sum of the lesser of what each owns and its least load, plus one per remaining
unit, as long as a member owns more and may hold more. If all pools are such, and there
are no other constraints, some assignment keeps that many: the remaining partitions go
to the members below their load.

Spread. Partitions to which only some members subscribe are held by these: one of them
holds their share, by capacity, or more. And one of all members in play holds no more
than the share of all partitions; nor does a member hold more than it subscribes to. So
the largest of the first is a lower bound on the greatest load / capacity, and the
smallest of the others an upper bound on the least.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from verify.case import Case, count_owned
from verify.certificate import Pool
from verify.policy.feasible_region import assignable_topics, region_of
from verify.policy.notation import Policy
from verify.policy.objectives import common_capacity

GROUPS_MAX = 200
"""Sets of subscribers whose shares are compared, the smallest first."""

Reason = dict[str, Any]


def judge_impossible(case: Case, policy: Policy) -> Reason:
    """Return whether the claim ``infeasible`` is ``proved`` or ``refuted``.

    Returns
    -------
    dict
        One of the two, and ``because`` of what; empty if counting does not decide.
    """
    if policy.balance == "spread":
        width = least_width(case)
        asked = (policy.most or 0) * common_capacity(case)
        if width <= asked:
            return {}
        scale = common_capacity(case)
        unit = {"scale": scale} if scale != 1 else {}
        return {"proved": True, "because": {"spread": width, **unit}}
    if policy.max_moves is None:
        return {"refuted": True, "because": {"balance": policy.balance}}
    moves = fewest_moves(case, policy.balance)
    if moves is None:
        return {}
    is_true = moves > policy.max_moves
    return {"proved" if is_true else "refuted": True, "because": {"moves": moves}}


def fewest_moves(case: Case, balance: str) -> int | None:
    """Return the least moves of a balance; None where counting does not tell."""
    if balance == "none":
        return 0
    region = region_of(case, balance)
    if region.is_open:
        return None
    return count_owned(case) - sum(_kept(case, pool) for pool in region.pools)


def least_width(case: Case) -> int:
    """Return a lower bound on the spread, in units of 1 / common capacity."""
    common, capacity = common_capacity(case), case.capacity
    if not case.in_play:
        return 0
    units: Counter[frozenset[str]] = Counter()
    for topic in assignable_topics(case):
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
