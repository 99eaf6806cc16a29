"""Does a certificate prove its assignment optimal? Two integers a member are enough.

The certificate gives each member a *level* and a *price*. Whatever integers it
gives, a wrong one can fail to prove something true but never prove something false:

Balance. A member of level q pays at least q*q + (2q + 1)(n - q) for n partitions
when the cost of n is n*n, and exactly that only for n = q and n = q + 1. Summed over
the members of any valid assignment, the right side is a constant plus 2q + 1 for
every partition, q the level of the member it sits on; that is least when every
partition sits on a subscriber of the least level. An assignment whose partitions all
sit there and whose loads are all q or q + 1 therefore has the least sum of squares
there is, which only the dec-min vector has; and any other assignment that has it too
meets the same two conditions.

Stickiness. So in every balanced assignment a partition p sits on one of the
subscribers of its topic with the least level: its *seats*. Take any prices u. What
an assignment keeps is the sum over partitions of (own - u) of the member they sit
on, plus the sum over members of u times load. The first is at most the best seat of
each partition. For the second, each load is q or q + 1, and how many members of a
level have q + 1 is no choice: the partitions whose seats have that level, less q a
member. So it is at most q*u for each member and the u of that many members, those
with the largest. A member that is nobody's seat has no partition and no extra one.
When this bound equals what is kept, no balanced assignment keeps more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from verify.case import Case, Row
from verify.figures import loads_of

Reason = dict[str, Any]
Integers = Mapping[str, int]


def balance_fails(
    case: Case, rows: Sequence[Row], certificate: Mapping[str, Integers]
) -> Reason | None:
    """Return where a certificate fails to prove the load vector least, or None."""
    level = certificate["level"]
    for part in ("level", "price"):
        odd = min(certificate[part].keys() ^ case.wants.keys(), default=None)
        if odd is not None:
            return {"fails": "members", "part": part, "member": odd}
    for member, load in loads_of(case, rows).items():
        if not level[member] <= load <= level[member] + 1:
            found = {"level": level[member], "load": load}
            return {"fails": "load", "member": member, **found}
    least = _least_levels(case, level)
    misplaced = [row for row in rows if level[row[0]] != least[row[1]]]
    if misplaced:
        member, topic, numbers = min(misplaced)
        where = {"member": member, "topic": topic, "partition": min(numbers)}
        found = {"level": level[member], "least": least[topic]}
        return {"fails": "place", **where, **found}
    return None


def stickiness_fails(
    case: Case, certificate: Mapping[str, Integers], kept: int
) -> Reason | None:
    """Return how far a certificate of balance is from proving ``kept`` the most."""
    bound = kept_bound(case, certificate["level"], certificate["price"])
    return None if bound == kept else {"fails": "bound", "kept": kept, "bound": bound}


def kept_bound(case: Case, level: Integers, price: Integers) -> int:
    """Return what no balanced assignment keeps more than, by the levels' proof."""
    least = _least_levels(case, level)
    supply: dict[int, int] = {}
    seated: set[str] = set()
    cheapest: dict[str, int] = {}
    bound = 0
    for topic, floor in least.items():
        count = case.partitions[topic]
        seats = [name for name in case.subscribers[topic] if level[name] == floor]
        cheapest[topic] = min(map(price.__getitem__, seats))
        bound -= cheapest[topic] * count
        seated.update(seats)
        supply[floor] = supply.get(floor, 0) + count
    for (owner, topic), numbers in case.owned.items():
        if level[owner] == least[topic]:
            better = 1 - price[owner] + cheapest[topic]
            bound += max(0, better) * len(numbers)
    by_level: dict[int, list[int]] = {}
    for name in seated:
        by_level.setdefault(level[name], []).append(price[name])
    for floor, prices in by_level.items():
        extra = supply[floor] - floor * len(prices)
        bound += floor * sum(prices) + sum(sorted(prices)[len(prices) - extra :])
    return bound


def _least_levels(case: Case, level: Integers) -> dict[str, int]:
    """Return the least level among the subscribers of each topic to be given out."""
    return {
        topic: min(map(level.__getitem__, subscribers))
        for topic, subscribers in case.subscribers.items()
        if subscribers and case.partitions[topic]
    }


def peak_lag_bound(case: Case) -> int | None:
    """Return what no valid assignment's peak lag is below; None if no lag is told.

    Some member is at least the average behind, and some member takes the partition
    that is furthest behind.
    """
    served = {topic for topic, names in case.subscribers.items() if names}
    lags = [case.lag[topic] for topic in served & case.lag.keys()]
    if not lags:
        return None
    takers = sum(1 for wanted in case.wants.values() if wanted)
    average = -(-sum(map(sum, lags)) // takers)
    return max(average, *(max(behind, default=0) for behind in lags))
