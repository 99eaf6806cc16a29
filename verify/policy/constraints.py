"""The constraints of a policy that the figures do not decide.

Dec-min balance over the whole group and KIP-54 balance are those of `verify.balance`.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from verify.case import Case
from verify.keys import is_weighted
from verify.policy.notation import Policy
from verify.policy.objectives import Pair, Tally, common_capacity, scaled

Reason = dict[str, Any]


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
    over = over_budget(tally, policy.max_moves)
    found = {"balance": broken, "budget": over}
    return {name: reason for name, reason in found.items() if reason is not None}


def uneven_topic(case: Case, held: Mapping[Pair, int]) -> Reason | None:
    """Return a transfer that makes a topic more even over its subscribers, or None.

    All of them can hold any of its partitions, so a single transfer helps when any
    chain does. A transfer from c to d helps when the next key of d is less than the
    last key of c (`verify.keys`).
    """
    weighted, capacity = is_weighted(case), case.capacity

    def key(number: int, name: str) -> tuple[Fraction | int, int]:
        if not weighted:
            return number, 0
        return Fraction(number, capacity[name]), -capacity[name]

    for topic, names in sorted(case.subscribers.items()):
        if not names or not case.partitions[topic]:
            continue
        loads = [(held.get((name, topic), 0), name) for name in names]
        giver = max((*key(load, name), name) for load, name in loads)
        taker = min((*key(load + 1, name), name) for load, name in loads)
        if taker[:2] < giver[:2]:
            return {"topic": topic, "member": giver[2], "to": taker[2]}
    return None


def too_wide(case: Case, tally: Tally, most: int) -> Reason | None:
    """Return who holds most and least / capacity if the spread is above the limit."""
    loads = scaled(case, tally.loads)
    if not loads:
        return None
    fullest = max(loads, key=loads.__getitem__)
    emptiest = min(loads, key=loads.__getitem__)
    if loads[fullest] - loads[emptiest] <= most * common_capacity(case):
        return None
    return {"member": fullest, "to": emptiest, "spread": most}


def over_budget(tally: Tally, max_moves: int | None) -> Reason | None:
    """Return how far an assignment is over its budget of moves, or None."""
    if max_moves is None or tally.moves <= max_moves:
        return None
    return {"moves": tally.moves, "max_moves": max_moves}
