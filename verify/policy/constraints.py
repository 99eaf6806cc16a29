"""The constraints of a policy: whether an assignment meets them, and whether any can.

Dec-min balance over the whole group and KIP-54 balance are those of `verify.balance`.
These, per-topic balance and ``none`` can always be met, the last with no move, as each
owner subscribes to the topics that it owns. For a budget or a spread counting may tell.

Budget. In a pool of a region (`verify.policy.feasible_region`) whose members are all
eligible for its partitions, loads are within limits and add up to its partitions. A
member keeps at most its owned partitions and at most its load; so together they keep no
more than the sum of the lesser of the owned count and the least load of each, plus one
per remaining unit, as long as a member owns more and may hold more. If all pools are
such, and there are no other constraints, some assignment keeps that many: the remaining
partitions go to the members below their load.

Spread. Partitions to which only some members subscribe are held by these: one of them
holds their share, by capacity, or more. And one of all members in play holds no more
than the share of all partitions; nor does a member hold more than it subscribes to. So
the largest of the first is a lower bound on the greatest load / capacity, and the
smallest of the others an upper bound on the least.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from verify.case import Case
from verify.certificate import Pool, Reason
from verify.keys import is_weighted
from verify.policy.feasible_region import assignable_topics, region_of, sort_key
from verify.policy.notation import Policy
from verify.policy.objectives import Pair, Tally, common_capacity, scaled_loads

GROUPS_MAX = 200
"""Sets of subscribers whose shares are compared, the smallest first."""


def constraints_fail(
    case: Case, policy: Policy, tally: Tally, counted: Mapping[str, Any]
) -> dict[str, Reason]:
    """Return why ``balance`` and ``budget`` of a policy are not met, if so.

    Of the two balances that the figures decide, the evidence is with these.
    """
    broken: Reason | None = None
    match policy.balance:
        case "dec-min" if not counted["dec_min_balanced"]:
            broken = {"fails": "dec-min"}
        case "kip54" if not counted["kip54_balanced"]:
            broken = {"fails": "kip54"}
        case "per-topic":
            broken = uneven_topic(case, tally.loads)
        case "spread":
            broken = too_wide(case, tally, policy.most or 0)
    found = {} if broken is None else {"balance": broken}
    if policy.max_moves is not None and tally.moves > policy.max_moves:
        found["budget"] = {"moves": tally.moves, "max_moves": policy.max_moves}
    return found


def uneven_topic(case: Case, held: Mapping[Pair, int]) -> Reason | None:
    """Return a transfer that makes a topic more even over its subscribers, or None.

    All of them can hold any of its partitions, so a single transfer helps when any
    chain does. A transfer from c to d helps when the next key of d is less than the
    last key of c (`verify.keys`).
    """
    capacity = case.capacity if is_weighted(case) else dict.fromkeys(case.capacity, 1)
    for topic, names in sorted(case.subscribers.items()):
        if not names or not case.partitions[topic]:
            continue
        loads = [(held.get((name, topic), 0), capacity[name], name) for name in names]
        giver = max((*sort_key(load, w), name) for load, w, name in loads)
        to = min((*sort_key(load + 1, w), name) for load, w, name in loads)
        if to[:2] < giver[:2]:
            return {"topic": topic, "member": giver[2], "to": to[2]}
    return None


def too_wide(case: Case, tally: Tally, most: int) -> Reason | None:
    """Return who holds most and least / capacity if the spread is above the limit."""
    loads = scaled_loads(case, tally)
    if not loads:
        return None
    fullest = max(loads, key=loads.__getitem__)
    emptiest = min(loads, key=loads.__getitem__)
    if loads[fullest] - loads[emptiest] <= most * common_capacity(case):
        return None
    return {"member": fullest, "to": emptiest, "spread": most}


def judge_impossible(case: Case, policy: Policy) -> Reason:
    """Return whether the claim ``infeasible`` is ``proved`` or ``refuted``.

    Returns
    -------
    dict
        One of the two, and ``because`` with the reason; empty if counting does not
        decide.
    """
    if policy.balance == "spread":
        width, scale = least_width(case), common_capacity(case)
        if width <= (policy.most or 0) * scale:
            return {}
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
    return case.owned_count - sum(_kept(case, pool) for pool in region.pools)


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
