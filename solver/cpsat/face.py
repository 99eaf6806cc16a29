"""All assignments of a balance at once, as seats and limits of load.

The n-th partition of a member has the *key* (n ÷ capacity, larger capacity first).
An assignment is dec-min exactly when no chain of transfers leads from a member to one
whose next key is less than the last key of the first. Prices prove that: let a member
charge the least next key that chains from it reach. Each partition then sits where it
is charged least, and each member holds all keys below its own price and none above; so
for any cost that rises with the key, no assignment is cheaper. And every one as cheap
does the same (complementary slackness), which is what a `Face` says.
"""

from __future__ import annotations

from dataclasses import dataclass

from solver.cpsat.kip54 import load_ranges
from solver.cpsat.problem import Problem

Key = tuple[int, int]
Range = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Face:
    """Where partitions may sit, and how many a member may hold.

    Attributes
    ----------
    seats : tuple of tuple of int, one a pool
        Members that its partitions may go to.
    loads : tuple of (least, most), one a member
    pool_loads : tuple of dict, one a pool; or empty
        Member to (least, most) of that pool alone.
    """

    seats: tuple[tuple[int, ...], ...]
    loads: tuple[Range, ...]
    pool_loads: tuple[dict[int, Range], ...] = ()

    def holds(self, counts: list[dict[int, int]]) -> bool:
        """Tell whether loads by pool and member are within."""
        loads = [0] * len(self.loads)
        for seats, given in zip(self.seats, counts, strict=True):
            if not given.keys() <= set(seats):
                return False
            for member, count in given.items():
                loads[member] += count
        within = all(
            least <= load <= most
            for load, (least, most) in zip(loads, self.loads, strict=True)
        )
        return within and all(
            least <= given.get(member, 0) <= most
            for limits, given in zip(self.pool_loads, counts, strict=False)
            for member, (least, most) in limits.items()
        )


def key_of(problem: Problem, member: int, n: int) -> Key:
    """Return the key of a member's n-th partition: less is better."""
    return n * problem.units[member], -problem.capacity[member]


def open_face(problem: Problem) -> Face:
    """Return the face of all allowed assignments."""
    most = [0] * len(problem.members)
    for pool in problem.pools:
        for member in pool.subscribers:
            most[member] += pool.size
    return Face(
        seats=tuple(pool.subscribers for pool in problem.pools),
        loads=tuple((0, n) for n in most),
    )


def dec_min_face(problem: Problem, counts: list[dict[int, int]]) -> Face | None:
    """Return the face of all dec-min assignments, from loads of one of them.

    Returns
    -------
    Face or None
        None if the loads are not dec-min: a chain improves them.
    """
    loads = [0] * len(problem.members)
    for given in counts:
        for member, count in given.items():
            loads[member] += count
    price = _prices(problem, counts, loads)
    for member, load in enumerate(loads):
        if load and key_of(problem, member, load) > price[member]:
            return None
    seats = []
    for pool in problem.pools:
        least = min(price[member] for member in pool.subscribers)
        seats.append(tuple(m for m in pool.subscribers if price[m] == least))
    limits = tuple(_limits(problem, m, price[m]) for m in range(len(loads)))
    return Face(seats=tuple(seats), loads=limits)


def per_topic_face(problem: Problem) -> Face:
    """Return the face of all assignments that are dec-min within each topic.

    Of all keys of the subscribers the least are taken, as many as the topic has
    partitions; the last one taken is the price of all. Pools are single topics here.
    """
    shares: list[dict[int, Range]] = []
    least = [0] * len(problem.members)
    most = [0] * len(problem.members)
    for pool in problem.pools:
        price = _last_key(problem, pool.subscribers, pool.size)
        limits = {m: _limits(problem, m, price) for m in pool.subscribers}
        for member, (low, high) in limits.items():
            least[member] += low
            most[member] += high
        shares.append(limits)
    return Face(
        seats=tuple(
            tuple(m for m, (_, high) in limits.items() if high) for limits in shares
        ),
        loads=tuple(zip(least, most, strict=True)),
        pool_loads=tuple(shares),
    )


def _prices(
    problem: Problem, counts: list[dict[int, int]], loads: list[int]
) -> list[Key]:
    """Return the least next key that chains from each member reach, its own included.

    Members are taken by their next key; whoever reaches one and has no price yet gets
    that key. Chains are followed backwards: from a member to the holders of its pools.
    """
    following = [key_of(problem, m, load + 1) for m, load in enumerate(loads)]
    price: list[Key | None] = [None] * len(loads)
    pools_of = problem.pools_of()
    seen = [False] * len(problem.pools)
    for goal in sorted(range(len(loads)), key=lambda m: (following[m], m)):
        if price[goal] is not None:
            continue
        price[goal], queue = following[goal], [goal]
        while queue:
            for pool in pools_of[queue.pop()]:
                if seen[pool]:
                    continue
                seen[pool] = True
                for holder in counts[pool]:
                    if price[holder] is None:
                        price[holder] = following[goal]
                        queue.append(holder)
    return [key for key in price if key is not None]


def _limits(problem: Problem, member: int, price: Key) -> Range:
    """Count the keys of a member that are below a price, and those not above it."""
    amount, rank = price
    unit, own = problem.units[member], -problem.capacity[member]
    below = (amount - 1) // unit
    at = amount // unit - below
    return below + (at if own < rank else 0), below + (at if own <= rank else 0)


def _last_key(problem: Problem, members: tuple[int, ...], taken: int) -> Key:
    """Return the largest of the least ``taken`` keys of some members."""
    low, high = 1, taken * min(problem.units[m] for m in members)
    while low < high:
        middle = (low + high) // 2
        if sum(middle // problem.units[m] for m in members) >= taken:
            high = middle
        else:
            low = middle + 1
    left = taken - sum((low - 1) // problem.units[m] for m in members)
    reaching = [m for m in members if low % problem.units[m] == 0]
    ranks = sorted(-problem.capacity[m] for m in reaching)
    return low, ranks[left - 1]


def kip54_face(problem: Problem) -> Face:
    """Return a face that holds all assignments balanced by KIP-54, and more."""
    return Face(
        seats=tuple(pool.subscribers for pool in problem.pools),
        loads=load_ranges(problem),
    )
