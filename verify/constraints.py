"""What a policy asks of an assignment beside balance in full: topic by topic, by width.

Dec-min over the whole group and KIP-54's own balance are `verify.balance`'s.
"""

from __future__ import annotations

from typing import Any

from verify.case import Case
from verify.objectives import Tally, common_capacity, scaled, scaled_by_topic

Reason = dict[str, Any]


def uneven_topic(case: Case, tally: Tally) -> Reason | None:
    """Return a transfer that makes a topic more even over its subscribers, or None.

    All of them can have any of its partitions, so a single transfer helps when
    anything does. Passing one on from c to d helps when what d then has / its
    capacity is less than what c had / its own; or equal, and d's capacity the larger,
    because then c is left with less than d had.
    """
    common = common_capacity(case)
    unit = {name: common // case.capacity[name] for name in case.in_play}
    for topic, loads in sorted(scaled_by_topic(case, tally.loads)):
        giver = max((load, unit[name], name) for name, load in loads.items())
        taker = min(
            (load + unit[name], unit[name], name) for name, load in loads.items()
        )
        if taker[:2] < giver[:2]:
            return {"topic": topic, "member": giver[2], "to": taker[2]}
    return None


def too_wide(case: Case, tally: Tally, most: int) -> Reason | None:
    """Return who holds most and least / capacity if that is too far apart, or None."""
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
